#pragma once
// Images through a backbone in training: mixed precision, and large batches on little memory.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "cplearn/nn/backbone/backbone.h"

namespace cpl {

// bf16 where autocast thinks it safe, while it lives; the state belongs to the thread.
class Autocast {
 public:
  Autocast(bool enabled, at::Device device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::Device device_;
  bool was_enabled_;
  at::ScalarType was_type_;
};

struct EncodeOptions {
  // The images go through in so many parts, and again when the gradient is wanted: memory for
  // activations falls by this factor, the forward work doubles, and the loss still sees the whole
  // batch, so that its means and priors keep their meaning. (Adding up gradients of the parts'
  // own losses would train with another loss.) Batch statistics *inside* a backbone are those of
  // a part.
  std::int64_t parts = 1;
  bool bf16 = false;
};

// n x features, fp32, differentiable with respect to the backbone's parameters.
at::Tensor encode(Backbone& backbone, const at::Tensor& images, const EncodeOptions& options);

// Of torch's default generator on the CPU.
at::Tensor torch_random_state();
void set_torch_random_state(const at::Tensor& state);

}  // namespace cpl
