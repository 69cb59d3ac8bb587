#pragma once
// The projectors of methods other than CPLearn.

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace cpl {

enum class MlpKind {
  kBatchNorm,  // Linear, BatchNorm, ReLU, ..., Linear
  kGelu,  // Linear, GELU, ..., Linear; weights drawn with a standard deviation of 0.02, as in DINO
};

// Layers between these widths, the last one linear. `last_bias`: whether that one has a bias;
// before a batch normalisation it would have no effect.
torch::nn::Sequential make_mlp(const std::vector<std::int64_t>& widths, MlpKind kind,
                               bool last_bias);

// An MLP onto the unit sphere and trained prototypes on it: SwAV's, DINO's and Self-Classifier's.
struct PrototypeHeadOptions {
  std::int64_t hidden;  // width of the hidden layers
  std::int64_t layers;  // how many hidden layers
  std::int64_t width;   // of the embeddings
  std::int64_t codes;   // number of prototypes
  MlpKind kind;
};

class PrototypeHeadImpl : public torch::nn::Module {
 public:
  PrototypeHeadImpl(std::int64_t features, const PrototypeHeadOptions& options);

  // Unit rows, n x width. `z`: n x features.
  at::Tensor embed(const at::Tensor& z);

  // Cosines with the prototypes, n x codes. `frozen`: without a gradient for the prototypes.
  at::Tensor scores(const at::Tensor& embeddings, bool frozen = false);

  std::int64_t codes() const { return prototypes_.size(0); }

 private:
  torch::nn::Sequential mlp_{nullptr};
  at::Tensor prototypes_;  // codes x width, of any length
};
TORCH_MODULE(PrototypeHead);

}  // namespace cpl
