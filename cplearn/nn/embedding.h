#pragma once
// The last step to an embedding: into the cube or onto the sphere.

#include <ATen/core/Tensor.h>

#include "cplearn/nn/head_enums.h"

namespace cpl {

// Embeddings of `x` (n x d), of the same shape.
//
//   tanh  inside the cube
//   l2    rows of length 1 among the directions that codes can tell apart
//
// Along the mean of all codes, `mean_code` (d, or undefined for 0), every logit moves alike, and
// softmax does not see it. A dictionary of one Hadamard block has a mean of length 1: that
// direction would be a place where embeddings could keep their length and say nothing, and the law
// that keeps them from collapsing (docs/collapse.md) would not hold. So it is shortened by as much
// as softmax is blind to it, before rows get their length.
at::Tensor activate(const at::Tensor& x, Activation activation, const at::Tensor& mean_code);

}  // namespace cpl
