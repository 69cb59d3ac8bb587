#include "cplearn/nn/linear.h"

#include <torch/torch.h>

#include "cplearn/nn/product.h"
#include "cplearn/nn/second_derivative.h"

namespace cpl {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

Tensor rows(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

class Linear : public torch::autograd::Function<Linear> {
 public:
  // A bias without elements stands for none: apply() does not take undefined tensors.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    RECORD_FUNCTION("cplearn::linear", {});  // so that profilers count it among the products
    const bool biased = bias.numel() > 0;
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    const Tensor y = torch::empty(shape, x.options());
    Tensor out = y.view({-1, weight.size(0)});
    if (biased) out.copy_(bias.expand_as(out));
    biased ? add_product(out, rows(x), weight.t()) : product_out(out, rows(x), weight.t());
    context->save_for_backward({x, weight});
    context->saved_data["biased"] = biased;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    RECORD_FUNCTION("cplearn::linear_backward", {});
    refuse_second_derivative("linear");
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const Tensor dy = rows(gradients[0]);
    Tensor dx, dweight, dbias;
    if (context->needs_input_grad(0)) dx = product(dy, weight).view(x.sizes());
    if (context->needs_input_grad(1)) dweight = product(dy.t(), rows(x));
    if (context->saved_data["biased"].toBool() && context->needs_input_grad(2)) dbias = dy.sum(0);
    return {dx, dweight, dbias};
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (cpu_autocast() || !product_supports(x, weight) || x.dim() < 2 || x.numel() == 0 ||
      (bias.defined() && bias.scalar_type() != x.scalar_type())) {
    return torch::linear(x, weight, bias);
  }
  return Linear::apply(x, weight, bias.defined() ? bias : torch::empty({0}, weight.options()));
}

}  // namespace cpl
