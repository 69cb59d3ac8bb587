#include "cplearn/ssl/self_classifier.h"

#include "cplearn/dist/gather.h"
#include "tests/dist/two_workers.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

SelfClassifierOptions soft() {
  SelfClassifierOptions options;
  options.row_temperature = 0.25;
  options.column_temperature = 0.5;
  return options;
}

TEST(SelfClassifier, LossAndGradientAreThePapers) {
  const at::Tensor s0 = test::sines(8, 6, 0.1), s1 = test::sines(8, 6, 1.9);
  test::expect_golden_loss("self_classifier", self_classifier_loss(s0, s1, soft()).total, {s0, s1});
}

TEST(SelfClassifier, OneClassForAllCostsMoreThanBalancedClasses) {
  const at::Tensor balanced = 5 * torch::eye(4, at::kDouble).repeat({3, 1});
  const at::Tensor one = torch::zeros({12, 4}, at::kDouble);
  one.select(1, 0).fill_(5);
  const auto loss = [](const at::Tensor& s) {
    return self_classifier_loss(s, s, soft()).total.item<double>();
  };
  EXPECT_LT(loss(balanced), loss(one) - 1);
}

TEST(SelfClassifier, TwoWorkersEqualOne) {
  test::expect_same_for_two_workers([](const at::Tensor& z0, const at::Tensor& z1,
                                       WorkerGroup& workers) {
    return self_classifier_loss(gather_rows(z0, workers), gather_rows(z1, workers), soft()).total;
  });
}

}  // namespace
}  // namespace cpl
