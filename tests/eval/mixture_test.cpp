#include "cplearn/eval/mixture.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cplearn/base/error.h"
#include "tests/eval/golden.h"

namespace cpl {
namespace {

at::Tensor golden_points() {
  const test::GoldenFeatures data = test::golden_features(600, 5, 4);
  return torch::tensor(data.values).view({600, 5}).to(at::kDouble) +
         8 * torch::tensor(data.labels).unsqueeze(1);
}

TEST(Mixture, EqualsScikitLearn) {
  const auto& node = test::eval_golden().at("mixture");
  const at::Tensor x = golden_points();
  MixtureOptions options;
  options.components = 4;
  options.tolerance = 1e-12;
  options.max_iterations = 1000;
  const Mixture mixture = fit_mixture(x, options);
  EXPECT_TRUE(mixture.converged);
  EXPECT_NEAR(mixture.log_likelihood, node.at("log_likelihood"), 1e-6);
  std::vector<std::int64_t> order(4);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return mixture.means[a * 5] < mixture.means[b * 5]; });
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(mixture.weights[order[k]], node.at("weights")[k], 1e-6);
    for (int c = 0; c < 5; ++c) {
      EXPECT_NEAR(mixture.means[order[k] * 5 + c], node.at("means")[k][c], 1e-4);
      EXPECT_NEAR(mixture.variances[order[k] * 5 + c], node.at("variances")[k][c], 1e-4);
    }
  }
  const std::vector<double> log_p = log_density(mixture, x.narrow(0, 0, 6));
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(log_p[i], node.at("log_density")[i], 1e-4);
  const Entropy entropy = mixture_entropy(mixture, 10000, 0);
  const double error = std::hypot(entropy.standard_error, node.at("entropy_error").get<double>());
  EXPECT_NEAR(entropy.nats, node.at("entropy"), 4 * error);
}

TEST(Mixture, EntropyOfOneGaussianIsKnown) {
  Mixture one;
  one.components = 1;
  one.width = 3;
  one.weights = {1};
  one.means = {100, -5, 0};
  one.variances = {4, 1, 0.01};
  const double expected = 1.5 * (1 + std::log(2 * M_PI)) + 0.5 * std::log(4 * 0.01);
  const Entropy entropy = mixture_entropy(one, 10000, 1);
  EXPECT_NEAR(entropy.nats, expected, 4 * entropy.standard_error);
  EXPECT_NEAR(entropy.standard_error, std::sqrt(1.5 / 10000), 2e-3);
}

// Where the product in float has lost all digits, the density must not: points on their centres.
TEST(Mixture, StaysExactOnCollapsedClusters) {
  torch::manual_seed(4);
  const at::Tensor own = at::randint(0, 20, {400}, at::kLong);
  const at::Tensor x = at::randn({20, 64}).index_select(0, own) * 3 + 1e-4 * at::randn({400, 64});
  MixtureOptions options;
  options.components = 20;
  options.floor = 1e-10;
  const Mixture mixture = fit_mixture(x, options);
  const std::vector<double> log_p = log_density(mixture, x);
  for (const std::int64_t i : {0, 7, 399}) {
    double best = -INFINITY;  // components do not overlap
    for (std::int64_t k = 0; k < 20; ++k) {
      double sum = std::log(mixture.weights[k]);
      for (std::int64_t c = 0; c < 64; ++c) {
        const double v = mixture.variances[k * 64 + c];
        const double difference = x[i][c].item<double>() - mixture.means[k * 64 + c];
        sum -= 0.5 * (std::log(2 * M_PI * v) + difference * difference / v);
      }
      best = std::max(best, sum);
    }
    EXPECT_NEAR(log_p[i], best, 0.02 * std::abs(best));
  }
  EXPECT_GT(mixture.log_likelihood / 64, 4);  // entropy far under 0
}

TEST(Mixture, RefusesWhatCannotWork) {
  EXPECT_THROW(fit_mixture(at::zeros({5, 2}), {}), Error);
  EXPECT_THROW(fit_mixture(at::full({50, 2}, NAN), {}), Error);
  Mixture mixture = fit_mixture(at::randn({50, 2}), {});
  EXPECT_THROW(log_density(mixture, at::zeros({5, 3})), Error);
}

}  // namespace
}  // namespace cpl
