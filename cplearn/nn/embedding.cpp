#include "cplearn/nn/embedding.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace cpl {

at::Tensor activate(const at::Tensor& x, Activation activation, const at::Tensor& mean_code) {
  if (activation == Activation::kTanh) return x.tanh();
  at::Tensor visible = x;
  const double length = mean_code.defined() ? mean_code.norm().item<double>() : 0;
  if (length > 0) {
    const at::Tensor direction = (mean_code / length).to(x.options());
    const double seen = std::sqrt(std::max(0.0, 1 - length * length));
    visible = x - (1 - seen) * at::outer(at::mv(x, direction), direction);
  }
  return torch::nn::functional::normalize(visible,
                                          torch::nn::functional::NormalizeFuncOptions().dim(1));
}

}  // namespace cpl
