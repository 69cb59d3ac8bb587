#include "cplearn/eval/row_sample.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "cplearn/eval/column_means.h"
#include "cplearn/eval/kmeans.h"

namespace cpl {
namespace {

TEST(SampleRows, TakesOneOfEachPart) {
  const std::vector<std::int64_t> rows = sample_rows(103, 10, 7);
  ASSERT_EQ(rows.size(), 10u);
  std::set<std::int64_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i] / 10, static_cast<std::int64_t>(i));
    places.insert(rows[i] % 10);
  }
  EXPECT_GT(places.size(), 3u);  // not at a fixed distance
  EXPECT_EQ(rows, sample_rows(103, 10, 7));
}

// Points of ten classes in turn, more than the seeds are chosen from: every second row would hold
// five of the classes.
TEST(KMeans, FindsClassesThatComeInTurn) {
  torch::manual_seed(0);
  const std::int64_t n = 10000;
  const at::Tensor own = at::arange(n, at::kLong).remainder(10);
  const at::Tensor x = (10 * at::randn({10, 8})).index_select(0, own) + 0.1 * at::randn({n, 8});
  KMeansOptions options;
  options.clusters = 10;
  options.restarts = 1;
  const KMeans found = kmeans(x, options);
  EXPECT_LT(found.inertia / static_cast<double>(n), 8 * 0.01 * 1.1);
}

TEST(ColumnMeans, AreThoseOfANaiveLoop) {
  torch::manual_seed(0);
  const at::Tensor x = 1000 + at::randn({37, 11});
  for (const at::Tensor& rows : {x, x.t()}) {  // the second is not contiguous
    const at::Tensor exact = rows.to(at::kDouble);
    EXPECT_LT((column_means(rows) - exact.mean(0)).abs().max().item<double>(), 1e-9);
    EXPECT_LT((column_mean_squares(rows) - exact.square().mean(0)).abs().max().item<double>(),
              1e-6);
  }
}

TEST(ColumnMeans, AreNotFiniteWhereAValueIsNot) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    at::Tensor x = at::ones({5, 3});
    x[2][1] = bad;
    const at::Tensor finite = column_means(x).isfinite();
    EXPECT_TRUE(finite[0].item<bool>() && finite[2].item<bool>());
    EXPECT_FALSE(finite[1].item<bool>());
  }
}

}  // namespace
}  // namespace cpl
