#pragma once
// Watches a training without labels and almost for free: running means of what the loss computes
// anyway, and a few hundred recent representations. What it sees is for eval/judge.h to judge.

#include <torch/nn/module.h>

#include <cstdint>

#include "cplearn/eval/vital_signs.h"
#include "cplearn/nn/state.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// A module, so that its state is saved like any other.
class Monitor : public torch::nn::Module {
 public:
  // `images`: of the data set.
  Monitor(std::int64_t features, std::int64_t codes, std::int64_t images);

  // `method` is used in evaluation mode for a moment; nothing changes in it.
  void observe(const StepResult& result, Method& method);

  // Of the latest images, as they were in training.
  VitalSigns signs(Method& method) const;
  // Of the first few hundred images, when hardly anything was learnt: what is known is the rank.
  VitalSigns start() const;

  // From a checkpoint; one of version 0.1 has another state, and the monitor begins anew.
  void load_state(const NamedTensors& values);

 private:
  at::Tensor recent() const;  // the representations that are kept

  std::int64_t images_;
  at::Tensor usage_;       // c, double: running mean of the codes' probabilities
  at::Tensor means_;       // entropy, cross-entropy; double
  at::Tensor count_;       // steps observed
  at::Tensor recent_;      // rows x features: the latest representations
  at::Tensor written_;     // rows ever written
  at::Tensor start_rank_;  // double; 0 before it is known
};

}  // namespace cpl
