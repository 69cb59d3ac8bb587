#include "cplearn/eval/spectrum.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cplearn/base/error.h"

namespace cpl {

std::vector<double> covariance_spectrum(const at::Tensor& x, bool centred) {
  CPL_CHECK(x.dim() == 2 && x.size(0) >= 1 && x.size(1) >= 1,
            "a spectrum needs embeddings as n x d, got ", x.sizes());
  const at::NoGradGuard no_grad;
  at::Tensor rows = x.to(at::kCPU, at::kDouble);  // squares of small values would drown in float
  CPL_CHECK(rows.isfinite().all().item<bool>(),
            "a spectrum needs finite embeddings, but some are NaN or infinite; the model has ",
            "diverged: lower the learning rate");
  if (centred) rows = rows - rows.mean(0);
  // The smaller of X'X and XX': they share their values.
  const bool wide = rows.size(1) > rows.size(0);
  const at::Tensor gram = wide ? at::matmul(rows, rows.t()) : at::matmul(rows.t(), rows);
  const at::Tensor values = at::linalg_eigvalsh(gram / static_cast<double>(rows.size(0)))
                                .flip(0)
                                .clamp_min(0)
                                .contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

double effective_rank(const std::vector<double>& spectrum) {
  double sum = 0;
  for (const double value : spectrum) sum += std::sqrt(value);
  if (sum == 0) return 0;
  double entropy = 0;
  for (const double value : spectrum) {
    const double share = std::sqrt(value) / sum;
    if (share > 0) entropy -= share * std::log(share);
  }
  return std::exp(entropy);
}

double spread_over_largest(const std::vector<double>& spectrum) {
  const double largest = spectrum.empty() ? 0 : spectrum.front();
  return largest > 0 ? std::accumulate(spectrum.begin(), spectrum.end(), 0.0) / largest : 0;
}

std::int64_t directions_in_use(const std::vector<double>& spectrum, double fraction) {
  if (spectrum.empty() || spectrum.front() <= 0) return 0;
  const double least = spectrum.front() * fraction * fraction;
  return std::count_if(spectrum.begin(), spectrum.end(),
                       [&](double value) { return value > least; });
}

PowerLaw power_law(const std::vector<double>& spectrum, std::int64_t first, std::int64_t last) {
  std::int64_t end = directions_in_use(spectrum, 1e-5);
  if (last > 0) end = std::min(end, last);
  CPL_CHECK(first >= 1, "a power law is fitted from value 1 on, got ", first);
  if (end - first < 1) return {};  // fewer than two values: no slope
  double weights = 0, mean_x = 0, mean_y = 0;
  const auto each = [&](const auto& visit) {
    for (std::int64_t i = first; i <= end; ++i)
      visit(1.0 / static_cast<double>(i), std::log(static_cast<double>(i)),
            std::log(spectrum[i - 1]));
  };
  each([&](double w, double x, double y) {
    weights += w;
    mean_x += w * x;
    mean_y += w * y;
  });
  mean_x /= weights;
  mean_y /= weights;
  double xx = 0, xy = 0, yy = 0;
  each([&](double w, double x, double y) {
    xx += w * (x - mean_x) * (x - mean_x);
    xy += w * (x - mean_x) * (y - mean_y);
    yy += w * (y - mean_y) * (y - mean_y);
  });
  const bool flat = yy <= 1e-20 * weights;  // a constant up to rounding is fitted exactly
  return {-xy / xx, flat ? 1.0 : xy * xy / (xx * yy)};
}

}  // namespace cpl
