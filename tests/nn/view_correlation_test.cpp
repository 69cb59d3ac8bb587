// The law of docs/collapse.md: what the loss is on the sphere, and where "all alike" attracts.

#include "cplearn/nn/view_correlation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/code_loss.h"
#include "tests/dist/thread_group.h"

namespace cpl {
namespace {

constexpr std::int64_t kRows = 256, kWidth = 32, kCodes = 1 << 16;

at::Tensor unit_rows(const at::Tensor& x) { return x / x.norm(2, 1, true); }

// Two views of kRows embeddings that are `apart` from one point and correlate by `rho`.
std::pair<at::Tensor, at::Tensor> views(double apart, double rho) {
  torch::manual_seed(5);
  const at::Tensor centre = unit_rows(torch::randn({1, kWidth}));
  const auto noise = [] { return torch::randn({kRows, kWidth}) / std::sqrt(kWidth); };
  const at::Tensor shared = noise();
  const auto view = [&] {
    return unit_rows(centre + apart * (std::sqrt(rho) * shared + std::sqrt(1 - rho) * noise()));
  };
  const at::Tensor first = view();
  return {first, view()};
}

CodeLoss loss_of(const at::Tensor& h0, const at::Tensor& h1, double deviation, double beta,
                 PriorForm prior = PriorForm::kReverse) {
  const Dictionary dictionary(DictionaryKind::kHadamard, kWidth, kCodes, 3);
  WorkerGroup alone;
  return code_loss_fused(h0, h1, dictionary, {deviation, beta, true, prior, {}}, alone);
}

TEST(CollapseLaw, OnTheSphereTheLossIsAlignmentAndUniformity) {
  for (const double deviation : {0.25, 0.5, 1.0}) {
    const auto [a, b] = views(1.0, 0.6);
    const CodeLoss loss = loss_of(a, b, deviation, 0.5);
    const double k2 = deviation * deviation;
    const double alignment = (a * b).sum(1).mean().item<double>();
    EXPECT_NEAR(loss.invariance.item<double>(), std::log(kCodes) + k2 / 2 - k2 * alignment,
                0.05 * k2);
    const auto uniformity = [&](const at::Tensor& h) {
      return 0.5 * std::log((k2 * at::matmul(h, h.t())).exp().mean().item<double>());
    };
    EXPECT_NEAR(loss.prior.item<double>(), 0.5 * (uniformity(a) + uniformity(b)),
                0.08 * loss.prior.item<double>() + 1e-4);
  }
}

// Held against the others, an image does not push itself away.
TEST(CollapseLaw, TheOthersPriorHasNoPairsOfAnImageWithItself) {
  for (const double deviation : {0.25, 0.5, 1.0}) {
    const auto [a, b] = views(1.0, 0.6);
    const double prior = loss_of(a, b, deviation, 0.5, PriorForm::kOthers).prior.item<double>();
    const auto expected = [&](const at::Tensor& h) {
      const at::Tensor kernel = (deviation * deviation * at::matmul(h, h.t())).exp();
      const double all = kernel.mean().item<double>();
      const at::Tensor others = (kernel.sum(1) - kernel.diagonal()) / (kRows - 1);
      return others.log().mean().item<double>() - 0.5 * std::log(all);
    };
    EXPECT_NEAR(prior, 0.5 * (expected(a) + expected(b)), 0.08 * std::abs(prior) + 2e-3);
  }
}

// From "all alike", does the loss fall when embeddings move apart a little?
TEST(CollapseLaw, OnePointAttractsFromWhereTheLawSays) {
  for (const double rho : {0.1, 0.5, 0.8}) {
    const double limit = 1 / (2 * (1 - rho));
    for (const double beta : {0.7 * limit, 1.4 * limit}) {
      const auto value = [&](double apart) {
        const auto [a, b] = views(apart, rho);
        return loss_of(a, b, 1.0, beta).total.item<double>();
      };
      EXPECT_EQ(value(0.2) < value(0.0), beta < limit) << "rho " << rho << " beta " << beta;
    }
  }
}

TEST(ViewCorrelation, IsThatOfTheDeviations) {
  WorkerGroup alone;
  const auto [a, b] = views(0.3, 0.7);
  EXPECT_NEAR(view_correlation(a, b, alone).item<double>(), 0.7, 0.03);
  EXPECT_NEAR(view_correlation(a, a, alone).item<double>(), 1, 1e-9);
  EXPECT_NEAR(view_correlation(a, 2 * a + 3, alone).item<double>(), 1, 1e-9);
  test::as_two_workers([&, h0 = a, h1 = b](test::ThreadGroup& group) {
    const auto half = [&](const at::Tensor& h) { return h.chunk(2)[group.rank()]; };
    EXPECT_NEAR(view_correlation(half(h0), half(h1), group).item<double>(),
                view_correlation(h0, h1, alone).item<double>(), 1e-9);
  });
  const at::Tensor same = torch::ones({4, 3});
  EXPECT_EQ(view_correlation(same, same, alone).item<double>(), 0);  // nothing to correlate
}

}  // namespace
}  // namespace cpl
