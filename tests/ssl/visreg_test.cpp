#include "cplearn/ssl/visreg.h"

#include "cplearn/ssl/slices.h"
#include "tests/dist/two_workers.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

std::vector<double> terms_of(const at::Tensor& z) {
  WorkerGroup alone;
  const at::Tensor directions = random_directions(0, 0, 256, z.size(1));
  std::vector<double> values;
  for (const auto& term : visreg_loss({z, z}, 2, directions, VisregOptions(), alone).terms)
    values.push_back(term.second.item<double>());
  return values;  // invariance, centre, scale, shape
}

TEST(Visreg, LossAndGradientAreThePapers) {
  WorkerGroup alone;
  const at::Tensor z0 = test::sines(8, 5, 0.1), z1 = test::sines(8, 5, 1.9),
                   z2 = test::sines(8, 5, 3.3);
  const at::Tensor rows = test::sines(6, 5, 5.0).detach();
  const NamedLoss loss =
      visreg_loss({0.5 * z0, 1.5 * z1, z2 + 0.25}, 2, rows / rows.norm(2, 1, /*keepdim=*/true),
                  VisregOptions(), alone);
  test::expect_golden_loss("visreg", loss.total, {z0, z1, z2});
}

TEST(Visreg, ANormalBatchPaysHardly) {
  torch::manual_seed(1);
  for (const double term : terms_of(torch::randn({2000, 8}))) EXPECT_LT(term, 0.01);
}

TEST(Visreg, EachTermSeesItsOwn) {
  torch::manual_seed(1);
  const at::Tensor normal = torch::randn({2000, 8}, at::kDouble);
  EXPECT_NEAR(terms_of(normal + 3)[1], 9, 0.3);
  EXPECT_NEAR(terms_of(3 * normal)[2], 4, 0.2);
  // Neither moves the others: mean and deviation are taken away before the shape is looked at.
  EXPECT_NEAR(terms_of(3 * normal + 3)[3], terms_of(normal)[3], 1e-3);
  EXPECT_GT(terms_of(normal.narrow(1, 0, 1).expand({2000, 8}))[3], 0.1);  // on a line
}

TEST(Visreg, APointPaysAndIsPulledApart) {
  const std::vector<double> terms = terms_of(torch::ones({64, 8}, at::kDouble));
  EXPECT_EQ(terms[0], 0);
  EXPECT_NEAR(terms[1], 1, 1e-12);
  EXPECT_NEAR(terms[2], 1, 1e-12);
  EXPECT_GT(terms[3], 0.8);  // nearly the second moment of the quantiles
  // The slope does not vanish with the deviation, and stays finite where that is exactly 0.
  WorkerGroup alone;
  const at::Tensor directions = random_directions(0, 0, 16, 5);
  const auto slope = [&](double size) {
    const at::Tensor z = (size * test::sines(12, 5, 0.1).detach()).requires_grad_();
    visreg_loss({z, z}, 2, directions, VisregOptions(), alone).total.backward();
    return z.grad().abs().max().item<double>();
  };
  EXPECT_GT(slope(1e-6), slope(1e-2));
  EXPECT_TRUE(std::isfinite(slope(0)));
}

TEST(Visreg, TwoWorkersEqualOne) {
  const at::Tensor directions = random_directions(0, 0, 10, 6);
  test::expect_same_for_two_workers(
      [&](const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers) {
        return visreg_loss({z0, z1, z0 * z1}, 2, directions, VisregOptions(), workers).total;
      });
}

}  // namespace
}  // namespace cpl
