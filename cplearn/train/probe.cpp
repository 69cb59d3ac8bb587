#include "cplearn/train/probe.h"

#include <torch/torch.h>

namespace cpl {

Probe::Probe(std::int64_t features, std::int64_t classes, double learning_rate)
    : learning_rate_(learning_rate),
      norm_(register_module(
          "norm", torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(features).affine(false)))),
      linear_(register_module("linear", torch::nn::Linear(features, classes))) {
  optimizer_ = std::make_unique<Optimizer>(*this, OptimizerOptions());
}

double Probe::step(const at::Tensor& z, const at::Tensor& labels) {
  const at::Tensor known = (labels >= 0).nonzero().flatten();
  if (known.numel() < 2) return 0;
  const at::Tensor target = labels.index_select(0, known);
  const at::Tensor scores = forward(z.detach().index_select(0, known));
  optimizer_->zero_grad();
  torch::nn::functional::cross_entropy(scores, target).backward();
  optimizer_->step(learning_rate_);
  return scores.argmax(1).eq(target).to(at::kDouble).mean().item<double>();
}

at::Tensor Probe::predict(const at::Tensor& z) {
  const at::NoGradGuard no_grad;
  const bool was_training = is_training();
  eval();
  const at::Tensor result = forward(z).argmax(1);
  train(was_training);
  return result;
}

}  // namespace cpl
