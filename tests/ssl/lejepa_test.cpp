#include "cplearn/ssl/lejepa.h"

#include "cplearn/ssl/slices.h"
#include "tests/dist/two_workers.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

at::Tensor sines_of_unit_length() {
  const at::Tensor rows = test::sines(6, 5, 5.0).detach();
  return rows / rows.norm(2, 1, /*keepdim=*/true);
}

// SIGReg as its formula says, one point after the other, in ordinary operations. u: V x N x m.
at::Tensor sigreg_by_definition(const at::Tensor& u, const LejepaOptions& options) {
  at::Tensor sum = torch::zeros({}, u.options());
  const double delta = options.t_max / static_cast<double>(options.points - 1);
  for (std::int64_t k = 0; k < options.points; ++k) {
    const double t = static_cast<double>(k) * delta, phi = std::exp(-t * t / 2);
    const bool end = k == 0 || k + 1 == options.points;
    const at::Tensor error = ((t * u).cos().mean(1) - phi).pow(2) + (t * u).sin().mean(1).pow(2);
    sum = sum + (end ? 1 : 2) * delta * phi * error;
  }
  return static_cast<double>(u.size(1)) * sum.mean();
}

TEST(Lejepa, LossAndGradientAreThePapers) {
  WorkerGroup alone;
  const at::Tensor z0 = test::sines(8, 5, 0.1), z1 = test::sines(8, 5, 1.9),
                   z2 = test::sines(8, 5, 3.3);
  const NamedLoss loss = lejepa_loss({0.5 * z0, 1.5 * z1, z2 + 0.25}, 2, sines_of_unit_length(),
                                     LejepaOptions(), alone);
  test::expect_golden_loss("lejepa", loss.total, {z0, z1, z2});
  const double invariance = loss.terms[0].second.item<double>();
  const double sigreg = loss.terms[1].second.item<double>();
  EXPECT_NEAR(0.95 * invariance + 0.05 * sigreg, loss.total.item<double>(), 1e-12);
}

TEST(Lejepa, PowersAreTheCosinesAndSinesOfAnyPoints) {
  torch::manual_seed(1);
  WorkerGroup alone;
  for (const auto& [points, t_max] : {std::pair<std::int64_t, double>{2, 1}, {3, 5}, {40, 2.5}}) {
    LejepaOptions options;
    options.lambda = 1;
    options.points = points;
    options.t_max = t_max;
    const at::Tensor z0 = 2 * torch::randn({9, 4}, at::kDouble), z1 = z0.exp();
    const at::Tensor directions = random_directions(0, points, 7, 4).to(at::kDouble);
    const at::Tensor z = torch::stack({z0, z1}).requires_grad_();
    const at::Tensor found = lejepa_loss({z[0], z[1]}, 2, directions, options, alone).total;
    const at::Tensor expected = sigreg_by_definition(z.matmul(directions.t()), options);
    EXPECT_NEAR(found.item<double>(), expected.item<double>(), 1e-10);
    const at::Tensor difference =
        torch::autograd::grad({found}, {z})[0] - torch::autograd::grad({expected}, {z})[0];
    EXPECT_LE(difference.abs().max().item<double>(), 1e-10) << points;
  }
}

TEST(Lejepa, APointPaysForEveryImageAndANormalBatchHardly) {
  torch::manual_seed(1);
  WorkerGroup alone;
  const at::Tensor directions = random_directions(0, 0, 1024, 8);
  const auto sigreg = [&](const at::Tensor& z) {
    return lejepa_loss({z, z}, 2, directions, LejepaOptions(), alone)
        .terms[1]
        .second.item<double>();
  };
  // The mean of the statistic under the hypothesis that it tests is near 1 for any N.
  for (const std::int64_t n : {64, 512}) {
    const at::Tensor normal = torch::randn({n, 8});
    EXPECT_LT(sigreg(normal), 3) << n;
    EXPECT_GT(sigreg(torch::zeros({n, 8})), 0.3 * static_cast<double>(n));
    EXPECT_GT(sigreg(torch::ones({n, 8})), 0.3 * static_cast<double>(n));
    EXPECT_GT(sigreg(normal.narrow(1, 0, 1).expand({n, 8})), 5) << "on a line, " << n;
  }
}

// Its published weakness: the loss of a point is high, and flat.
TEST(Lejepa, NothingPullsAPointApart) {
  WorkerGroup alone;
  const at::Tensor z = torch::zeros({6, 5}, at::kDouble).requires_grad_();
  lejepa_loss({z, z}, 2, sines_of_unit_length(), LejepaOptions(), alone).total.backward();
  EXPECT_LE(z.grad().abs().max().item<double>(), 1e-12);
}

TEST(Lejepa, TwoWorkersEqualOne) {
  const at::Tensor directions = random_directions(0, 0, 10, 6);
  test::expect_same_for_two_workers(
      [&](const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers) {
        return lejepa_loss({z0, z1, z0 * z1}, 2, directions, LejepaOptions(), workers).total;
      });
}

}  // namespace
}  // namespace cpl
