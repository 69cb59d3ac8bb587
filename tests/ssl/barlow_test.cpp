#include "cplearn/ssl/barlow.h"

#include "tests/dist/two_workers.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

TEST(Barlow, LossAndGradientAreThePapers) {
  WorkerGroup alone;
  const at::Tensor z0 = test::sines(8, 5, 0.1), z1 = test::sines(8, 5, 1.9);
  const NamedLoss loss = barlow_loss(z0, z1, BarlowOptions(), alone);
  test::expect_golden_loss("barlow", loss.total, {z0, z1});
  const double on = loss.terms[0].second.item<double>(), off = loss.terms[1].second.item<double>();
  EXPECT_NEAR(0.1 * (on + 0.0051 * off), loss.total.item<double>(), 1e-12);
}

TEST(Barlow, EqualUncorrelatedViewsCostNothing) {
  WorkerGroup alone;
  const double r = 1;  // rows of a Hadamard matrix: columns of mean 0, variance 1, uncorrelated
  const at::Tensor z =
      torch::tensor({{r, r, r}, {-r, r, -r}, {r, -r, -r}, {-r, -r, r}}, at::kDouble);
  EXPECT_LT(barlow_loss(z, z, BarlowOptions(), alone).total.item<double>(), 1e-9);
  EXPECT_GT(barlow_loss(z, -z, BarlowOptions(), alone).total.item<double>(), 1);
}

TEST(Barlow, TwoWorkersEqualOne) {
  test::expect_same_for_two_workers(
      [](const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers) {
        return barlow_loss(z0, z1, BarlowOptions(), workers).total;
      });
}

}  // namespace
}  // namespace cpl
