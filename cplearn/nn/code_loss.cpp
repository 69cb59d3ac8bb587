#include "cplearn/nn/code_loss.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {

double logit_gap(std::int64_t codes) {
  CPL_CHECK(codes >= 1, "codes must be at least 1, got ", codes);
  const double rest = kEpsilon * static_cast<double>(codes - 1);
  CPL_CHECK(static_cast<double>(codes) < 1.0 / kEpsilon,
            "codes must be under 1/eps = ", 1.0 / kEpsilon, ", got ", codes);
  return std::log((1.0 - rest) / kEpsilon);
}

double logit_scale(Activation activation, LogitScale scale, std::int64_t width, std::int64_t codes,
                   std::int64_t batch, double deviation) {
  CPL_CHECK(width >= 1, "width must be at least 1, got ", width);
  CPL_CHECK(scale != LogitScale::kAuthor || batch >= 1,
            "the author's scale depends on the training batch, which must be at least 1, got ",
            batch);
  const double gap = logit_gap(codes), d = static_cast<double>(width);
  if (scale == LogitScale::kDeviation) {
    CPL_CHECK(deviation > 0, "the deviation of a logit must be positive, got ", deviation);
    constexpr double kTanhDeviation = 0.628;  // of tanh(x), x standard normal
    return activation == Activation::kTanh ? deviation / (kTanhDeviation * std::sqrt(d))
                                           : deviation;
  }
  const double theory = activation == Activation::kTanh ? gap / d : gap / std::sqrt(d);
  return scale == LogitScale::kTheory ? theory : theory * std::sqrt(static_cast<double>(batch));
}

void check_prior(PriorForm prior, std::int64_t rows) {
  CPL_CHECK(prior != PriorForm::kOthers || rows >= 2, "head: the prior 'others' needs a batch of ",
            "at least 2 images, got ", rows, "; use a larger batch, or --prior reverse");
}

PriorForm resolve_prior(PriorChoice choice, std::int64_t batch) {
  constexpr std::int64_t kEnoughOthers = 64;
  switch (choice) {
    case PriorChoice::kOthers:
      return PriorForm::kOthers;
    case PriorChoice::kReverse:
      return PriorForm::kReverse;
    case PriorChoice::kForward:
      return PriorForm::kForward;
    case PriorChoice::kAuto:
      break;
  }
  return batch >= kEnoughOthers ? PriorForm::kOthers : PriorForm::kReverse;
}

double resolve_deviation(double wanted, PriorForm prior, std::int64_t codes) {
  if (wanted > 0) return wanted;
  return prior == PriorForm::kOthers
             ? std::sqrt(std::log(std::max(static_cast<double>(codes), 3.0)))
             : 2;
}

CodeLoss code_loss_plain(const at::Tensor& h0, const at::Tensor& h1, const at::Tensor& w,
                         const CodeLossOptions& options) {
  check_prior(options.prior, h0.size(0));
  const std::int64_t codes = w.size(1);
  const at::Tensor log_p0 = torch::matmul(h0, w).mul(options.scale).log_softmax(1);  // n x c
  const at::Tensor log_p1 = torch::matmul(h1, w).mul(options.scale).log_softmax(1);
  const at::Tensor p0 = log_p0.exp(), p1 = log_p1.exp();
  const auto cross = [](const at::Tensor& p, const at::Tensor& log_p) {
    return -(p * log_p).sum(1).mean();
  };
  // log of the mean over rows, in log space: a code no row uses would give log 0.
  const auto log_mean = [](const at::Tensor& log_p) {
    return log_p.logsumexp(0) - std::log(static_cast<double>(log_p.size(0)));  // c
  };
  const at::Tensor log_q =
      options.target.defined()
          ? options.target.to(w.options()).log()
          : at::full({codes}, -std::log(static_cast<double>(codes)), w.options());
  const auto prior = [&](const at::Tensor& log_p, const at::Tensor& log_pbar) {
    if (options.prior == PriorForm::kForward) return -(log_q.exp() * log_pbar).sum();
    if (options.prior == PriorForm::kReverse) return (log_pbar.exp() * (log_pbar - log_q)).sum();
    const auto n = static_cast<double>(log_p.size(0));
    const at::Tensor own = (log_p - log_p.logsumexp(0)).exp();  // of the code's column, n x c
    const at::Tensor log_others =
        log_pbar + std::log(n / (n - 1)) + (1 - own).clamp_min(simd::kLeastOthers).log();
    return (log_p.exp() * (log_others - log_q)).sum(1).mean();
  };
  const at::Tensor log_mean0 = log_mean(log_p0), log_mean1 = log_mean(log_p1);

  at::Tensor invariance = cross(p0, log_p1), prior_value = prior(log_p0, log_mean0);
  if (options.symmetric) {
    invariance = 0.5 * (invariance + cross(p1, log_p0));
    prior_value = 0.5 * (prior_value + prior(log_p1, log_mean1));
  }
  const at::Tensor total = options.beta * invariance + prior_value;
  const at::Tensor entropy = 0.5 * (cross(p0, log_p0) + cross(p1, log_p1));
  return {total, invariance.detach(), prior_value.detach(), entropy.detach(),
          torch::stack({log_mean0, log_mean1}).exp().detach()};
}

}  // namespace cpl
