#pragma once
// The collapse-proof head as a module to put behind any network:
//
//   cpl::CodeHead head(features, options);
//   auto loss = head->loss(net->forward(view0), net->forward(view1));
//   loss.total.backward();
//
// It holds the projector (Linear, BatchNorm, activation), whose parameters are trained with the
// network's, and the frozen dictionary, kept in bits as a buffer, so that saving the module saves
// it.

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/nn/code_head_options.h"
#include "cplearn/nn/code_loss.h"
#include "cplearn/nn/linear.h"

namespace cpl {

class CodeHeadImpl : public torch::nn::Module {
 public:
  CodeHeadImpl(std::int64_t features, const CodeHeadOptions& options);

  // H: n x width. `z`: n x features.
  at::Tensor embed(const at::Tensor& z);

  // On the CPU the fused loss; elsewhere plain operations on a dense dictionary.
  CodeLoss loss(const at::Tensor& z0, const at::Tensor& z1);

  // The loss of embeddings that exist already, for methods that compare a view with several others.
  CodeLoss compare(const at::Tensor& h0, const at::Tensor& h1);

  // The nearest code of each row and its probability.
  CodeAssignment assign(const at::Tensor& z);

  // log of the probabilities of all codes, n x codes: to look at, a few rows at a time.
  at::Tensor log_probabilities(const at::Tensor& z);

  // The projector before its activation, by layer: "linear" and "batch_norm", n x width each.
  std::vector<std::pair<std::string, at::Tensor>> layers(const at::Tensor& z);

  const Dictionary& dictionary();
  double scale() const { return scale_; }
  const CodeHeadOptions& options() const { return options_; }

  // Means over the batch are taken over these workers; the group must outlive the head.
  void set_workers(WorkerGroup& workers) { workers_ = &workers; }
  // q, one probability per code; undefined means uniform.
  void set_prior(const at::Tensor& q) { prior_ = q; }

 private:
  const at::Tensor& dense(const at::Tensor& like);
  // The projector before its batch norm, n x width.
  at::Tensor project(const at::Tensor& z);

  CodeHeadOptions options_;
  double scale_;
  PriorForm prior_form_ = PriorForm::kReverse;
  std::int64_t features_ = 0;
  // The projector: `linear_` or, with several layers, `mlp_`, then `norm_`; null without one.
  ProductLinear linear_{nullptr};
  torch::nn::Sequential mlp_{nullptr};
  torch::nn::BatchNorm1d norm_{nullptr};
  at::Tensor bits_;
  at::Tensor codes_;  // width x codes, a parameter; undefined while the dictionary is frozen
  std::unique_ptr<Dictionary> dictionary_;
  at::Tensor blind_;  // see nn/embedding.h
  at::Tensor dense_, prior_;
  WorkerGroup alone_;
  WorkerGroup* workers_ = &alone_;
};

TORCH_MODULE(CodeHead);

}  // namespace cpl
