#include "cplearn/nn/view_correlation.h"

#include <torch/types.h>

namespace cpl {

at::Tensor view_correlation(const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers) {
  const at::NoGradGuard no_grad;
  const at::Tensor a = h0.detach().to(at::kDouble), b = h1.detach().to(at::kDouble);
  // Sums over rows: a, b, and their products with themselves and each other.
  at::Tensor sums = torch::cat(
      {a.sum(0), b.sum(0), torch::stack({(a * b).sum(), a.square().sum(), b.square().sum()})});
  workers.sum(sums);
  const std::int64_t d = a.size(1);
  const double n = static_cast<double>(a.size(0) * workers.size());
  const at::Tensor mean_a = sums.narrow(0, 0, d) / n, mean_b = sums.narrow(0, d, d) / n;
  const at::Tensor both = sums[2 * d] / n - (mean_a * mean_b).sum();
  const at::Tensor own =
      (sums[2 * d + 1] / n - mean_a.square().sum()) * (sums[2 * d + 2] / n - mean_b.square().sum());
  return both / own.clamp_min(1e-24).sqrt();
}

}  // namespace cpl
