#pragma once
// The last step to an embedding: into the cube or onto the sphere.

#include <ATen/core/Tensor.h>

#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/head_enums.h"

namespace cpl {

// A direction along which the logits of all codes move alike, so that softmax does not see it: d
// numbers, of length 1; undefined where there is none. One block of Hadamard codes has one, the
// mean of its codes, and so have several blocks whose means are the same.
at::Tensor blind_direction(const Dictionary& dictionary);

// Embeddings of `x` (n x d), of the same shape.
//
//   tanh  inside the cube
//   l2    on the sphere: rows of length 1, without what lies along `blind` if that is defined.
//         Otherwise rows could keep their length there and say nothing, and the law that keeps them
//         from collapsing (docs/collapse.md) would not hold.
at::Tensor activate(const at::Tensor& x, Activation activation, const at::Tensor& blind);

}  // namespace cpl
