#pragma once
// torch::linear by products of our own (nn/product.h), equal to rounding.

#include <torch/types.h>

namespace cpl {

// x (... x in) weight^T (in x out) + bias, differentiable. `bias` may be undefined. Under autocast,
// and for other types and devices, it is torch::linear.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);

}  // namespace cpl
