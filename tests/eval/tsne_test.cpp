#include "cplearn/eval/tsne.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/neighbours.h"
#include "cplearn/eval/pca.h"
#include "cplearn/eval/trustworthiness.h"
#include "tests/eval/golden.h"

namespace cpl {
namespace {

at::Tensor features_of(const nlohmann::json& one) {
  const auto made = test::golden_features(one["rows"], one["columns"], one["classes"]);
  return torch::tensor(made.values).view({one["rows"], one["columns"]});
}

const nlohmann::json& cases() {
  static const nlohmann::json golden = test::read_golden("map_golden.json");
  return golden["cases"];
}

TEST(Trustworthiness, IsScikitLearns) {
  for (const auto& one : cases()) {
    const at::Tensor x = features_of(one);
    EXPECT_NEAR(trustworthiness(x, x.narrow(1, 0, 2), 5), one["columns_0_1"].get<double>(), 1e-9);
    EXPECT_NEAR(trustworthiness(x, principal_components(x, 2), 5), one["pca"].get<double>(), 1e-5);
    EXPECT_EQ(trustworthiness(x, x, 7), 1);
  }
}

TEST(Pca, IsScikitLearnsUpToSigns) {
  for (const auto& one : cases()) {
    const at::Tensor x = features_of(one), map = principal_components(x, 2);
    for (int axis = 0; axis < 2; ++axis)
      EXPECT_NEAR(std::abs(map[0][axis].item<double>()), one["pca_row_0"][axis].get<double>(),
                  1e-4);
    // More dimensions than points, by the other matrix: the same map.
    const at::Tensor few = x.narrow(0, 0, 12);
    const at::Tensor wide = at::cat({few, at::zeros({12, 40})}, 1);
    EXPECT_LT(
        (principal_components(few, 2) - principal_components(wide, 2)).abs().max().item<float>(),
        1e-4);
  }
  const at::Tensor line = at::arange(5).to(at::kFloat).unsqueeze(1);
  EXPECT_EQ(principal_components(line, 3).narrow(1, 1, 2).abs().max().item<float>(), 0);
}

TEST(Neighbours, AreThoseOfAPlainLoop) {
  torch::manual_seed(0);
  const at::Tensor x = at::randn({300, 7}) + 100;
  const Neighbours found = nearest_others(x, 9);
  const at::Tensor distances = at::cdist(x.to(at::kDouble), x.to(at::kDouble), 2, 2);
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto [value, index] = distances[i].sort();
    EXPECT_TRUE(found.index[i].equal(index.narrow(0, 1, 9))) << i;
    EXPECT_LT((found.value[i] - value.narrow(0, 1, 9).square()).abs().max().item<double>(), 1e-3);
  }
}

TEST(Tsne, IsAtLeastAsTrustworthyAsScikitLearn) {
  for (const auto& one : cases()) {
    const at::Tensor x = features_of(one);
    int iterations = 0;
    const at::Tensor map = tsne(x, {}, [&](int done) { iterations = done; });
    EXPECT_EQ(iterations, 1000);
    ASSERT_EQ(map.sizes(), (at::IntArrayRef{x.size(0), 2}));
    // Maps follow every rounding: learning rates from 25 to 125 spread these scores by up to 0.02
    // (300 points) and 0.006 (1,500), and scikit-learn's own differ by 0.002 between two starts.
    EXPECT_GT(trustworthiness(x, map, 5), one["tsne"].get<double>() - 0.003);
    EXPECT_GT(trustworthiness(x, map, 20), one["tsne_20"].get<double>() - 0.003);
    EXPECT_GT(trustworthiness(x, map, 5), one["pca"].get<double>() + 0.02);
  }
}

TEST(Tsne, BarnesHutFollowsTheExactForces) {
  const at::Tensor x = features_of(cases()[0]);
  TsneOptions exact, approximate;
  exact.iterations = approximate.iterations = 8;  // later the smallest difference has grown
  exact.angle = 0;
  approximate.exact_points = 0;
  const at::Tensor a = tsne(x, exact, {}), b = tsne(x, approximate, {});
  EXPECT_LT((a - b).norm().item<double>(), 0.02 * a.norm().item<double>());
}

TEST(Tsne, SeparatesClustersAndSurvivesHardInputs) {
  torch::manual_seed(1);
  const at::Tensor own = at::arange(600, at::kLong).remainder(6);
  const at::Tensor x = (20 * at::randn({6, 10})).index_select(0, own) + at::randn({600, 10});
  const at::Tensor near = nearest_others(tsne(x, {}, {}), 5).index;
  const at::Tensor same = own.index_select(0, near.flatten()).view({600, 5}) == own.unsqueeze(1);
  EXPECT_GT(same.to(at::kFloat).mean().item<double>(), 0.999);
  TsneOptions few;
  few.iterations = 300;
  for (const at::Tensor& hard : {at::ones({50, 3}), at::randn({4, 2}),
                                 at::randn({2, 3}).repeat({700, 1}), at::randn({60, 1})})
    EXPECT_TRUE(tsne(hard, few, {}).isfinite().all().item<bool>()) << hard.sizes();
  EXPECT_THROW(tsne(at::randn({3, 2}), {}, {}), Error);
}

}  // namespace
}  // namespace cpl
