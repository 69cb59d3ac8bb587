#pragma once
// Encoders: images n x 3 x h x w in, representations n x features out.

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// Each backbone reads the settings that concern it; the table says which.
struct BackboneOptions {
  std::int64_t width = 128;       // resnet8: channels of every layer
  bool final_activation = false;  // resnet8: LeakyReLU before the global mean (not in the paper)
  bool plain = false;             // resnet: only libtorch's operations, for comparison
  std::string stem = "cifar";     // resnet18/50: "cifar" (3x3, stride 1, no pooling) or "imagenet"
  std::int64_t stem_padding = 1;  // resnet18/50, cifar stem: 1, or 2 as in the authors' code
  std::int64_t image_size = 224;  // vit: side of the training images, fixes the position table
  std::int64_t patch_size = 16;   // vit: side of a patch
  double drop_path = 0.1;         // vit: chance of the last block's branches to be left out
};

struct BackboneRow {
  const char* name;
  const char* help;
  std::shared_ptr<Backbone> (*make)(const BackboneOptions& options);
};

const std::vector<BackboneRow>& backbones();

// Weights are drawn from torch's default generator. Throws cpl::Error, listing the names.
std::shared_ptr<Backbone> make_backbone(const std::string& name, const BackboneOptions& options);

}  // namespace cpl
