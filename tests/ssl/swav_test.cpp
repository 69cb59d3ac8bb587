#include "cplearn/ssl/swav.h"

#include "cplearn/ssl/probabilities.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

TEST(Sinkhorn, EqualsThePapersIterations) {
  const at::Tensor q = sinkhorn(test::sines(8, 6, 0.1), 0.5, 3);
  test::expect_golden(q, test::methods_golden()["sinkhorn"]);
}

TEST(Sinkhorn, BothMarginalsAreUniform) {
  torch::manual_seed(1);
  for (const auto& [n, c] : {std::pair<int, int>{12, 40}, {64, 10}, {16, 16}}) {
    const at::Tensor q = sinkhorn(torch::randn({n, c}, at::kDouble), 0.25, 500);
    EXPECT_LE((q.sum(1) - 1).abs().max().item<double>(), 1e-12);
    const double column = static_cast<double>(n) / c;
    EXPECT_LE((q.sum(0) - column).abs().max().item<double>(), 1e-6) << n << " x " << c;
  }
}

TEST(Sinkhorn, StaysFiniteWhereExponentialsOverflow) {
  const at::Tensor q = sinkhorn(torch::randn({8, 6}) * 1e3, 0.05, 3);
  EXPECT_TRUE(torch::isfinite(q).all().item<bool>());
  EXPECT_LE((q.sum(1) - 1).abs().max().item<double>(), 1e-5);
}

TEST(Swav, LossAndGradientAreThePapers) {
  std::vector<at::Tensor> scores, targets;
  for (const double phase : {0.1, 1.9, 3.3}) scores.push_back(test::sines(8, 6, phase));
  for (int i = 0; i < 2; ++i) targets.push_back(sinkhorn(scores[i].detach(), 0.5, 3));
  test::expect_golden_loss("swav", prediction_loss(targets, scores, 0.1), scores);
}

}  // namespace
}  // namespace cpl
