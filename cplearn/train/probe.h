#pragma once
// A linear classifier trained beside the encoder on its detached representations: an early look at
// how good they are. It never touches the encoder.

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include "cplearn/nn/optim/optimizer.h"

namespace cpl {

class Probe : public torch::nn::Module {
 public:
  // `learning_rate` is Adam's.
  Probe(std::int64_t features, std::int64_t classes, double learning_rate);

  // One step on z (n x features) with labels (n; -1 is not known). Returns the accuracy before it.
  double step(const at::Tensor& z, const at::Tensor& labels);

  // The class of each row.
  at::Tensor predict(const at::Tensor& z);

  Optimizer& optimizer() { return *optimizer_; }

 private:
  at::Tensor forward(const at::Tensor& z) { return linear_->forward(norm_->forward(z)); }

  double learning_rate_;
  torch::nn::BatchNorm1d norm_{nullptr};  // representations come in any scale
  torch::nn::Linear linear_{nullptr};
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace cpl
