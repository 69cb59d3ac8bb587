#include "cplearn/nn/code_head.h"

#include <torch/torch.h>

#include <algorithm>

#include "cplearn/base/error.h"
#include "cplearn/nn/code_probabilities.h"
#include "cplearn/nn/embedding.h"
#include "cplearn/nn/mlp.h"

namespace cpl {
namespace {

constexpr std::int64_t kCodesPerDimension = 4;

}  // namespace

CodeHeadImpl::CodeHeadImpl(std::int64_t features, const CodeHeadOptions& options)
    : options_(options) {
  CPL_CHECK(features >= 1, "head: features must be at least 1, got ", features);
  CPL_CHECK(options.hidden >= 0, "head: hidden must be at least 0, got ", options.hidden);
  CPL_CHECK(options.beta >= 0, "head: beta must be at least 0, got ", options.beta);
  // The scale that cannot collapse; the published scales stay as they are.
  const bool protects =
      options_.scale == LogitScale::kDeviation && options_.activation == Activation::kL2;
  if (options_.hidden == 0) {
    // With fewer codes, embeddings find directions in which codes differ too little
    // (docs/collapse.md).
    const std::int64_t widest = std::max<std::int64_t>(8, options_.codes / kCodesPerDimension);
    options_.hidden = protects && options_.projector ? std::min(features, widest) : features;
  }
  CPL_CHECK(options_.projector || options_.hidden == features, "head: without a projector the ",
            "dictionary is as wide as the features (", features, "), got hidden ", options_.hidden);
  prior_form_ = resolve_prior(options_.prior, options_.batch);
  scale_ = logit_scale(options_.activation, options_.scale, options_.hidden, options_.codes,
                       options_.batch,
                       resolve_deviation(options_.deviation, prior_form_, options_.codes));
  features_ = features;
  if (options_.projector) {
    if (options_.projector_layers == 1) {
      linear_ = register_module("linear", ProductLinear(features, options_.hidden));
    } else {
      std::vector<std::int64_t> widths(static_cast<std::size_t>(options_.projector_layers),
                                       options_.projector_width);
      widths.front() = features;
      widths.push_back(options_.hidden);
      mlp_ = register_module("mlp", make_mlp(widths, MlpKind::kBatchNorm, false));
    }
    norm_ = register_module("norm", torch::nn::BatchNorm1d(options_.hidden));
  }
  const Dictionary made(options_.dictionary, options_.hidden, options_.codes, options_.seed);
  bits_ = register_buffer("dictionary", torch::tensor(made.bits(), at::kByte));
  if (protects && !options_.train_dictionary) blind_ = blind_direction(made);
  if (options_.train_dictionary)
    codes_ = register_parameter("codes", torch::tensor(made.dense()).view({made.width(), -1}));
}

at::Tensor CodeHeadImpl::embed(const at::Tensor& z) {
  CPL_CHECK(z.dim() == 2 && z.size(1) == features_, "head: representations must be rows x ",
            features_, ", got ", z.sizes());
  CPL_CHECK(z.size(0) >= 1, "head: representations have no rows");
  at::Tensor x = z;
  if (options_.projector) {
    CPL_CHECK(
        !norm_->is_training() || z.size(0) >= 2,
        "head: batch normalisation needs at least 2 rows in training, got 1; use a larger batch "
        "or eval()");
    x = norm_->forward(project(z));
  }
  return activate(x, options_.activation, blind_);
}

CodeLoss CodeHeadImpl::loss(const at::Tensor& z0, const at::Tensor& z1) {
  const at::Tensor h0 = embed(z0), h1 = embed(z1);
  return compare(h0, h1);
}

at::Tensor CodeHeadImpl::project(const at::Tensor& z) {
  const at::Tensor x = z.to(norm_->weight.scalar_type());
  return mlp_.is_empty() ? linear_->forward(x) : mlp_->forward(x);
}

CodeLoss CodeHeadImpl::compare(const at::Tensor& h0, const at::Tensor& h1) {
  const CodeLossOptions options{scale_, options_.beta, options_.symmetric, prior_form_, prior_};
  if (codes_.defined()) {
    CPL_CHECK(workers_->size() == 1, "head: trained codes are for one worker");
    return code_loss_plain(h0, h1, codes_, options);
  }
  if (h0.device().is_cpu() && h0.scalar_type() != at::kDouble)
    return code_loss_fused(h0, h1, dictionary(), options, *workers_);
  return code_loss_plain(h0, h1, dense(h0), options);
}

CodeAssignment CodeHeadImpl::assign(const at::Tensor& z) {
  torch::NoGradGuard no_grad;
  if (codes_.defined()) {
    const auto [p, code] = log_probabilities(z).max(1);
    return {code, p.exp()};
  }
  return assign_codes(embed(z).to(at::kCPU), dictionary(), scale_);
}

at::Tensor CodeHeadImpl::log_probabilities(const at::Tensor& z) {
  torch::NoGradGuard no_grad;
  if (codes_.defined()) return at::matmul(embed(z), codes_).mul(scale_).log_softmax(1).to(at::kCPU);
  return code_log_probabilities(embed(z).to(at::kCPU), dictionary(), scale_);
}

std::vector<std::pair<std::string, at::Tensor>> CodeHeadImpl::layers(const at::Tensor& z) {
  if (!options_.projector) return {};
  const at::Tensor x = project(z);
  return {{"linear", x}, {"batch_norm", norm_->forward(x)}};
}

const Dictionary& CodeHeadImpl::dictionary() {
  // The buffer is the truth: loading a checkpoint replaces it. Comparing bits is cheap beside a
  // step.
  // Module::to(type) converts byte buffers as well; values up to 255 survive every type.
  const at::Tensor bits = bits_.to(at::kCPU, at::kByte).contiguous();
  const auto* data = bits.data_ptr<std::uint8_t>();
  const auto count = static_cast<std::size_t>(bits.numel());
  if (!dictionary_ ||
      !std::equal(data, data + count, dictionary_->bits().begin(), dictionary_->bits().end())) {
    dictionary_ =
        std::make_unique<Dictionary>(options_.dictionary, options_.hidden, options_.codes,
                                     options_.seed, std::vector<std::uint8_t>(data, data + count));
    dense_ = at::Tensor();
  }
  return *dictionary_;
}

const at::Tensor& CodeHeadImpl::dense(const at::Tensor& like) {
  const Dictionary& codes = dictionary();
  if (!dense_.defined() || dense_.device() != like.device() ||
      dense_.scalar_type() != like.scalar_type())
    dense_ = torch::tensor(codes.dense()).view({codes.width(), codes.codes()}).to(like.options());
  return dense_;
}

}  // namespace cpl
