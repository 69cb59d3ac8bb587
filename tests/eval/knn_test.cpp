#include "cplearn/eval/knn.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/accuracy.h"
#include "tests/eval/golden.h"

namespace cpl {
namespace {

TEST(Knn, EqualsScikitLearn) {
  const test::GoldenFeatures data = test::golden_features(1200, 20, 6);
  const at::Tensor x = torch::tensor(data.values).view({1200, 20}) - 6.75;
  const Labels labels(data.labels.begin(), data.labels.begin() + 800);
  const at::Tensor votes = knn_votes(x.narrow(0, 0, 800), labels, x.narrow(0, 800, 400), 6, {});
  const at::Tensor best = votes.argmax(1);
  const Labels predicted(best.data_ptr<std::int64_t>(), best.data_ptr<std::int64_t>() + 400);
  const Labels expected = test::eval_golden().at("neighbours").at("predicted");
  EXPECT_EQ(predicted, expected);
}

TEST(Knn, EqualsANaiveReferenceOverSeveralBlocks) {
  // Signs in four columns: rows of length 2, so that unit rows and their products are exact,
  // whatever multiplies them, and there are many ties.
  torch::manual_seed(1);
  const at::Tensor train = 2 * at::randint(0, 2, {4500, 4}, at::kFloat) - 1;
  const at::Tensor test = 2 * at::randint(0, 2, {300, 4}, at::kFloat) - 1;
  Labels labels(4500);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7 % 11);
  for (const std::int64_t k : {1, 20, 5000}) {
    KnnOptions options;
    options.neighbours = k;
    const at::Tensor votes = knn_votes(train, labels, test, 11, options);

    const auto unit = [](const at::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); };
    const at::Tensor similarity = at::mm(unit(test), unit(train).t());
    at::Tensor expected = at::zeros({300, 11}, at::kDouble);
    for (std::int64_t i = 0; i < 300; ++i) {
      const float* s = similarity.data_ptr<float>() + i * 4500;
      std::vector<std::int64_t> order(4500);
      for (std::int64_t j = 0; j < 4500; ++j) order[j] = j;
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return s[a] > s[b]; });
      for (std::int64_t r = 0; r < std::min<std::int64_t>(k, 4500); ++r)
        expected.data_ptr<double>()[i * 11 + labels[order[r]]] += std::exp(s[order[r]] / 0.07);
    }
    EXPECT_TRUE(at::allclose(votes, expected, 1e-5, 1e-9)) << k;
  }
}

TEST(Knn, NearestItselfAndRefusals) {
  torch::manual_seed(2);
  const at::Tensor x = at::randn({50, 8});
  Labels labels(50);
  for (std::size_t i = 0; i < 50; ++i) labels[i] = static_cast<std::int64_t>(i % 3);
  KnnOptions one;
  one.neighbours = 1;
  EXPECT_EQ(accuracy(knn_votes(x, labels, 5 * x, 3, one), labels).top1, 1);
  EXPECT_THROW(knn_votes(x, labels, at::randn({5, 7}), 3, one), Error);
  EXPECT_THROW(knn_votes(x, labels, x, 2, one), Error);
  one.neighbours = 0;
  EXPECT_THROW(knn_votes(x, labels, x, 3, one), Error);
}

}  // namespace
}  // namespace cpl
