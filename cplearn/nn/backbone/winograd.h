#pragma once
// 3x3 convolutions (padding 1) with a quarter of the multiplications or fewer, with stride 2 with
// seven tenths of them. Winograd's minimal filtering: Lavin and Gray, "Fast algorithms for
// convolutional neural networks", CVPR 2016. Forward and backward work in the transformed domain,
// where nearly all of the work is matrix products.
//
// In float the result differs from the direct sum by about 1.5e-6 of its size (a direct sum in
// another order: 3e-7). bf16 has no digits to spare for it and keeps the direct convolution.

#include <torch/nn/modules/batchnorm.h>
#include <torch/types.h>

#include "cplearn/simd/winograd_kernel.h"

namespace cpl {

using simd::Winograd;  // kSame, kPooled, kStrided

// CPU, float or double, and channels that are multiples of 16.
bool winograd_supports(const torch::Tensor& x, const torch::Tensor& weight);

// conv2d(activation(x), weight, bias, 1, 1), with kPooled followed by avg_pool2d(., 2), with
// kStrided of stride 2. Differentiable, once. The activation is x > 0 ? x : slope * x; the slope is
// at most 1, which stands for none. `bias` may be undefined. x: n x in x h x w, in channels-last
// memory (copied otherwise), and so is the result.
torch::Tensor winograd_conv(const torch::Tensor& x, const torch::Tensor& weight,
                            const torch::Tensor& bias, Winograd kind, double slope);

// conv2d(relu(norm(x)), weight, {}, 1 or 2, 1), where norm(x) is never in memory: it is computed
// while x is read. Both normalise_supports (batch_norm.h) and winograd_supports must hold, and the
// kind must not be kPooled.
torch::Tensor normalised_conv(torch::nn::BatchNorm2d& norm, const torch::Tensor& x,
                              const torch::Tensor& weight, Winograd kind);

}  // namespace cpl
