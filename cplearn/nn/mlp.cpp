#include "cplearn/nn/mlp.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/nn/linear.h"

namespace cpl {
namespace {

namespace nn = torch::nn;

at::Tensor unit_rows(const at::Tensor& x) {
  return nn::functional::normalize(x, nn::functional::NormalizeFuncOptions().dim(1));
}

ProductLinear make_linear(std::int64_t in, std::int64_t out, bool bias, MlpKind kind) {
  ProductLinear layer(nn::LinearOptions(in, out).bias(bias));
  if (kind == MlpKind::kGelu) {
    const torch::NoGradGuard no_grad;
    layer->weight.normal_(0, 0.02);
    if (bias) layer->bias.zero_();
  }
  return layer;
}

}  // namespace

nn::Sequential make_mlp(const std::vector<std::int64_t>& widths, MlpKind kind, bool last_bias) {
  nn::Sequential mlp;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    CPL_CHECK(widths[i] >= 1 && widths[i + 1] >= 1, "a projector needs layers of at least 1, got ",
              widths[i], " and ", widths[i + 1], ": use a larger --hidden");
    const bool last = i + 2 == widths.size();
    mlp->push_back(
        make_linear(widths[i], widths[i + 1], last ? last_bias : kind == MlpKind::kGelu, kind));
    if (last) break;
    if (kind == MlpKind::kBatchNorm) {
      mlp->push_back(nn::BatchNorm1d(widths[i + 1]));
      mlp->push_back(nn::ReLU());
    } else {
      mlp->push_back(nn::GELU());
    }
  }
  return mlp;
}

PrototypeHeadImpl::PrototypeHeadImpl(std::int64_t features, const PrototypeHeadOptions& options) {
  CPL_CHECK(options.codes >= 2, "a method with prototypes needs at least 2, got ", options.codes,
            ": use more --codes");
  std::vector<std::int64_t> widths = {features};
  widths.insert(widths.end(), static_cast<std::size_t>(options.layers), options.hidden);
  widths.push_back(options.width);
  mlp_ = register_module("mlp", make_mlp(widths, options.kind, true));
  // Of unit length, so that steps of an optimiser mean the same for any number of them.
  prototypes_ =
      register_parameter("prototypes", unit_rows(torch::randn({options.codes, options.width})));
}

at::Tensor PrototypeHeadImpl::embed(const at::Tensor& z) {
  return unit_rows(mlp_->forward(z.to(prototypes_.scalar_type())));
}

at::Tensor PrototypeHeadImpl::scores(const at::Tensor& embeddings, bool frozen) {
  const at::Tensor directions = unit_rows(frozen ? prototypes_.detach() : prototypes_);
  return linear(embeddings, directions, at::Tensor());
}

}  // namespace cpl
