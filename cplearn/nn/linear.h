#pragma once
// torch::linear by products of our own (nn/product.h), equal to rounding.

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

namespace cpl {

// x (... x in) weight^T (in x out) + bias, differentiable. `bias` may be undefined. Under autocast,
// and for other types and devices, it is torch::linear.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias);

// torch::nn::Linear with it: the same parameters, drawn alike.
class ProductLinearImpl : public torch::nn::LinearImpl {
 public:
  using LinearImpl::LinearImpl;
  torch::Tensor forward(const torch::Tensor& x) { return linear(x, weight, bias); }
};
TORCH_MODULE(ProductLinear);

}  // namespace cpl
