#pragma once
// Methods whose loss compares the embeddings of two views and needs nothing else: a projector of
// three layers, and the mean of the loss over the pairs of views.

#include <torch/nn/modules/container/sequential.h>

#include "cplearn/ssl/method.h"

namespace cpl {

class PairwiseMethod : public Method {
 public:
  PairwiseMethod(const BackboneMaker& make_backbone, const MethodOptions& options);

  StepResult step(const Views& views, const Position& position) override;
  at::Tensor embed(const at::Tensor& z) override { return projector_->forward(z); }

 protected:
  // h0, h1: n x --hidden, embeddings of two views of the same images.
  virtual NamedLoss compare(const at::Tensor& h0, const at::Tensor& h1) = 0;

 private:
  torch::nn::Sequential projector_{nullptr};
};

}  // namespace cpl
