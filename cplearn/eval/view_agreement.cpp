#include "cplearn/eval/view_agreement.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {

ViewAgreement::ViewAgreement(std::vector<double> mean)
    : mean_(torch::tensor(mean, at::kDouble).to(at::kFloat)) {
  for (const double p : mean) entropy_ -= p > 0 ? p * std::log(p) : 0.0;
}

void ViewAgreement::add(const at::Tensor& log_p0, const at::Tensor& log_p1) {
  CPL_CHECK(
      log_p0.dim() == 2 && log_p0.size(1) == mean_.size(0) && log_p0.sizes() == log_p1.sizes(),
      "two views need probabilities of n x ", mean_.size(0), " each, got ", log_p0.sizes(), " and ",
      log_p1.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor p[] = {log_p0.exp(), log_p1.exp()};
  const at::Tensor log_p[] = {log_p0, log_p1};
  for (std::size_t s = 0; s < kMeanShare.size(); ++s) {
    for (int v = 0; v < 2; ++v) {
      // Where p > 0 the mean is too, except for what rounding takes from it.
      const at::Tensor guess =
          kMeanShare[s] == 0
              ? log_p[1 - v]
              : (p[1 - v] * (1 - kMeanShare[s]) + mean_ * kMeanShare[s]).clamp_min(1e-38).log();
      cross_[s] -= (p[v] * guess).sum(at::kDouble).item<double>();
    }
  }
  rows_ += static_cast<double>(log_p0.size(0));
}

double ViewAgreement::cross_entropy() const { return cross_[0] / (2 * rows_); }

double ViewAgreement::information() const {
  const double least = *std::min_element(cross_.begin(), cross_.end()) / (2 * rows_);
  return std::max(entropy_ - least, 0.0);  // pbar alone as the guess gives 0
}

}  // namespace cpl
