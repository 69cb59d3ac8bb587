#include "cplearn/ssl/vicreg.h"

#include "tests/dist/two_workers.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

TEST(Vicreg, LossAndGradientAreThePapers) {
  WorkerGroup alone;
  const at::Tensor z0 = test::sines(8, 5, 0.1), z1 = test::sines(8, 5, 1.9);
  const NamedLoss loss = vicreg_loss(0.5 * z0, 1.5 * z1, VicregOptions(), alone);
  test::expect_golden_loss("vicreg", loss.total, {z0, z1});
}

TEST(Vicreg, APointPaysForItsVariance) {
  WorkerGroup alone;
  const at::Tensor z = torch::ones({6, 4}, at::kDouble);
  const NamedLoss loss = vicreg_loss(z, z, VicregOptions(), alone);
  EXPECT_EQ(loss.terms[0].second.item<double>(), 0);
  EXPECT_NEAR(loss.terms[1].second.item<double>(), 1 - 0.01, 1e-9);
}

TEST(Vicreg, TwoWorkersEqualOne) {
  test::expect_same_for_two_workers(
      [](const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers) {
        return vicreg_loss(z0, z1, VicregOptions(), workers).total;
      });
}

}  // namespace
}  // namespace cpl
