#include "cplearn/eval/linear_probe.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "cplearn/base/error.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/lbfgs.h"
#include "tests/eval/golden.h"

namespace cpl {
namespace {

struct Split {
  at::Tensor train, test;
  Labels train_labels, test_labels;
};

Split golden_split() {
  const auto& node = test::eval_golden().at("logistic");
  const std::int64_t rows = node.at("rows"), columns = node.at("columns"), n = node.at("train");
  const test::GoldenFeatures data = test::golden_features(rows, columns, node.at("classes"));
  const at::Tensor x = torch::tensor(data.values).view({rows, columns});
  return {x.narrow(0, 0, n), x.narrow(0, n, rows - n),
          Labels(data.labels.begin(), data.labels.begin() + n),
          Labels(data.labels.begin() + n, data.labels.end())};
}

// Columns of rank 2, as of a collapsed run: the preconditioner is nearly singular.
TEST(LogisticProbe, ReadsClassesFromDependentColumns) {
  torch::manual_seed(0);
  const std::int64_t n = 20000;
  const at::Tensor plane = at::randn({n, 2});
  const at::Tensor x = at::matmul(plane, at::randn({2, 64})) + 3;
  Labels labels(n);
  for (std::int64_t i = 0; i < n; ++i) labels[i] = plane[i][0].item<float>() > 0 ? 1 : 0;
  const LinearProbe probe = fit_logistic_probe(x, labels, 2, LogisticProbeOptions());
  EXPECT_TRUE(probe.converged);
  EXPECT_LT(probe.train_loss, 0.05);
}

TEST(LogisticProbe, EqualsScikitLearn) {
  const auto& node = test::eval_golden().at("logistic");
  const Split split = golden_split();
  LogisticProbeOptions options;
  // Parameters are as far from the best as the root of the loss: 1e-9 above it leaves 2e-4, and
  // where below that it ends depends on the rounding of the matrix products.
  options.tolerance = 1e-12;
  const LinearProbe probe = fit_logistic_probe(split.train, split.train_labels, 6, options);
  EXPECT_TRUE(probe.converged);
  EXPECT_NEAR(probe.train_loss, node.at("train_loss"), 1e-6);
  const at::Tensor scores = probe.scores(split.test);
  const at::Tensor p = at::softmax(scores.narrow(0, 0, 5), 1);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j)
      EXPECT_NEAR(p[i][j].item<double>(), node.at("probability").at(i).at(j), 5e-5);
  const Accuracy found = accuracy(scores, split.test_labels);
  EXPECT_NEAR(found.top1, node.at("top1"), 0.002);
  EXPECT_NEAR(found.top5, node.at("top5"), 0.002);

  const LinearProbe usual = fit_logistic_probe(split.train, split.train_labels, 6, {});
  EXPECT_NEAR(accuracy(usual.scores(split.test), split.test_labels).top1, found.top1, 0.003);
  EXPECT_LT(usual.iterations, 40);
}

TEST(LogisticProbe, ScaleAndShiftOfColumnsDoNotMatter) {
  const Split split = golden_split();
  const at::Tensor scale = torch::linspace(0.01, 30, 20), shift = torch::linspace(-50, 50, 20);
  LogisticProbeOptions options;
  options.tolerance = 1e-8;
  const LinearProbe a = fit_logistic_probe(split.train, split.train_labels, 6, options);
  const LinearProbe b =
      fit_logistic_probe(split.train * scale + shift, split.train_labels, 6, options);
  EXPECT_NEAR(a.train_loss, b.train_loss, 1e-6);
  EXPECT_TRUE(at::allclose(a.scores(split.test), b.scores(split.test * scale + shift), 1e-2, 1e-2));
}

TEST(LogisticProbe, ConstantColumnsAndSeparableClasses) {
  at::Tensor x = at::zeros({40, 3});
  Labels y(40);
  for (int i = 0; i < 40; ++i) {
    y[i] = i % 2;
    x[i][0] = y[i] == 1 ? 5.0 : -5.0;
    x[i][2] = 1e4;
  }
  const LinearProbe probe = fit_logistic_probe(x, y, 2, {});
  EXPECT_TRUE(probe.converged);
  EXPECT_EQ(accuracy(probe.scores(x), y).top1, 1);
}

TEST(LogisticProbe, RefusesWhatCannotWork) {
  EXPECT_THROW(fit_logistic_probe(at::zeros({3, 2}), {0, 1}, 2, {}), Error);
  EXPECT_THROW(fit_logistic_probe(at::zeros({2, 2}), {0, 2}, 2, {}), Error);
  EXPECT_THROW(fit_logistic_probe(at::zeros({2, 2}), {-1, 0}, 2, {}), Error);
  EXPECT_THROW(fit_logistic_probe(at::full({2, 2}, NAN), {0, 1}, 2, {}), Error);
}

TEST(AdamProbe, ComesNearTheOptimum) {
  const Split split = golden_split();
  AdamProbeOptions options;
  options.standardise = true;
  const LinearProbe adam = fit_adam_probe(split.train, split.train_labels, 6, options);
  const LinearProbe best = fit_logistic_probe(split.train, split.train_labels, 6, {});
  EXPECT_NEAR(adam.train_loss, best.train_loss, 0.05);
  EXPECT_NEAR(accuracy(adam.scores(split.test), split.test_labels).top1,
              accuracy(best.scores(split.test), split.test_labels).top1, 0.04);
  const LinearProbe again = fit_adam_probe(split.train, split.train_labels, 6, options);
  EXPECT_TRUE(again.weight.equal(adam.weight));
}

TEST(Accuracy, CountsRanksAndGivesTiesToTheLowerClass) {
  const at::Tensor scores =
      torch::tensor({3., 1., 3., 0., 2., 2.5, 0., 1., 2., 3., 4., 5.}).view({2, 6});
  EXPECT_EQ(accuracy(scores, {0, 5}).top1, 1);
  EXPECT_EQ(accuracy(scores, {2, 5}).top1, 0.5);
  EXPECT_EQ(accuracy(scores, {3, 0}).top5, 0);
  EXPECT_EQ(accuracy(scores, {1, 1}).top5, 1);
  EXPECT_THROW(accuracy(scores, {6, 0}), Error);
}

TEST(Lbfgs, SolvesAQuadraticExactly) {
  // f = 1/2 sum_i i (x_i - i)^2, preconditioned and not.
  const auto objective = [](const std::vector<double>& x, std::vector<double>& gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double weight = static_cast<double>(i + 1), error = x[i] - weight;
      gradient[i] = weight * error;
      sum += 0.5 * weight * error * error;
    }
    return sum;
  };
  LbfgsOptions options;
  options.tolerance = 1e-14;
  for (const bool exact : {false, true}) {
    std::vector<double> x(50, 0.0);
    const LbfgsResult result = minimise_lbfgs(
        x, objective,
        [&](std::vector<double>& g) {
          for (std::size_t i = 0; exact && i < g.size(); ++i) g[i] /= static_cast<double>(i + 1);
        },
        options);
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.iterations, exact ? 2 : 100);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], static_cast<double>(i + 1), 1e-6);
  }
}

}  // namespace
}  // namespace cpl
