#pragma once
// Batch normalisation, residual and ReLU in as few passes over memory as they need: two forward
// (statistics, result) and two backward (sums, gradients), where separate operations take five and
// nine. Ioffe and Szegedy, "Batch normalization", ICML 2015.

#include <torch/nn/modules/batchnorm.h>
#include <torch/types.h>

namespace cpl {

// relu(norm(x) + residual), with or without either: `residual` may be undefined. Differentiable,
// and updates the running statistics, as `norm` does itself. Other types, devices and widths
// (not multiples of 16), and `plain`, take libtorch's own operations. x: n x channels x h x w,
// channels-last (copied otherwise).
torch::Tensor normalise(torch::nn::BatchNorm2d& norm, const torch::Tensor& x,
                        const torch::Tensor& residual, bool relu, bool plain);

}  // namespace cpl
