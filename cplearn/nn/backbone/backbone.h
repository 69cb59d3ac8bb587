#pragma once
// Encoders: images n x 3 x h x w in, representations n x features out.

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cplearn/nn/backbone/backbone_options.h"

namespace cpl {

class Backbone : public torch::nn::Module {
 public:
  // Width of the representation.
  virtual std::int64_t features() const = 0;

  // n x features.
  virtual torch::Tensor forward(const torch::Tensor& images) = 0;

  // What a linear probe looks at. Transformers: the CLS tokens of the last `blocks` blocks, each
  // after the final norm, side by side (n x blocks*features). Others have one representation:
  // forward().
  virtual torch::Tensor probe_features(const torch::Tensor& images, std::int64_t blocks) {
    (void)blocks;
    return forward(images);
  }
};

// Weights are drawn from torch's default generator. Throws cpl::Error, listing the names.
std::shared_ptr<Backbone> make_backbone(const std::string& name, const BackboneOptions& options);

}  // namespace cpl
