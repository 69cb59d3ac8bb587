#pragma once
// Batch normalisation, residual and ReLU in as few passes over memory as they need: two forward
// (statistics, result) and two backward (sums, gradients). Ioffe and Szegedy, "Batch
// normalization", ICML 2015.

#include <torch/nn/modules/batchnorm.h>
#include <torch/types.h>

#include <cstdint>

namespace cpl {

// relu(norm(x) + residual), with or without either: `residual` may be undefined. Differentiable,
// and updates the running statistics, as `norm` does itself. Other types, devices and widths
// (not multiples of 16), and `plain`, take libtorch's own operations. x: n x channels x h x w,
// channels-last (copied otherwise).
torch::Tensor normalise(torch::nn::BatchNorm2d& norm, const torch::Tensor& x,
                        const torch::Tensor& residual, bool relu, bool plain);

// The parts of it, for a convolution that normalises what it reads (winograd.h).
bool normalise_supports(const torch::nn::BatchNorm2d& norm, const torch::Tensor& x);

// Mean and variance to normalise with, 2 x channels in double. In training they are those of x, and
// the running ones follow them.
torch::Tensor norm_moments(torch::nn::BatchNorm2d& norm, const torch::Tensor& x);

// norm(x) = x * scale + offset, in the parameters' type; mean and 1 / deviation in double.
struct NormFactors {
  NormFactors(const torch::Tensor& weight, const torch::Tensor& bias, const torch::Tensor& moments,
              double epsilon);
  torch::Tensor scale, offset, mean, inverse;
};

// With g the gradient of norm(x): that of weight and bias, and the coefficients of x's,
// dx = g * gradient_factor + x * input_factor + constant. `sums`: of g and of g * (x - mean), 2 x
// channels in double. `count`: pixels per channel that the moments are taken over, 0 if they are
// constants.
struct NormGradient {
  NormGradient(const torch::Tensor& sums, const torch::Tensor& weight, const torch::Tensor& mean,
               const torch::Tensor& inverse, std::int64_t count);
  torch::Tensor weight, bias, gradient_factor, input_factor, constant;
};

// g becomes dx, in place. Both n x channels x h x w, channels-last.
void norm_input_gradient(const torch::Tensor& g, const torch::Tensor& x,
                         const NormGradient& gradient);

}  // namespace cpl
