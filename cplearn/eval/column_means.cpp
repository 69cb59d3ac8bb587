#include "cplearn/eval/column_means.h"

#include <torch/types.h>

namespace cpl {
namespace {

template <class Function>
at::Tensor means_of(const at::Tensor& rows, Function f) {
  const at::Tensor values = rows.contiguous();
  const std::int64_t n = values.size(0), d = values.size(1);
  const at::Tensor mean = at::zeros({d}, at::kDouble);
  double* sum = mean.data_ptr<double>();
  const float* x = values.data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i, x += d) {
    for (std::int64_t j = 0; j < d; ++j) sum[j] += f(static_cast<double>(x[j]));
  }
  return mean.div_(n);
}

}  // namespace

at::Tensor column_means(const at::Tensor& rows) {
  return means_of(rows, [](double x) { return x; });
}

at::Tensor column_mean_squares(const at::Tensor& rows) {
  return means_of(rows, [](double x) { return x * x; });
}

}  // namespace cpl
