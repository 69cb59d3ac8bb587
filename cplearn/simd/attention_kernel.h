#pragma once
// Attention of one head in one image, on one core: softmax(scale q k^T) v, with everything between
// the products in the cache. Vaswani et al., "Attention is all you need", NeurIPS 2017.
//
// The backward pass computes the probabilities again from q, k and the logarithms of their sums:
// reading them from memory takes as long, and they would be most of what a network has to keep.

#include <cstdint>

#include "cplearn/simd/token_kernel.h"

namespace cpl::simd {

struct Attention {
  std::int64_t tokens;   // rows of k and v
  std::int64_t queries;  // rows of q
  std::int64_t width;    // of the head: columns of q, k and v
  float scale;           // of the logits
  ConstRows q, k, v;
};

// out [queries][width], and log_sums [queries]: the base-2 logarithms that `attention_backward`
// needs.
void attention(const Attention& job, Rows<float> out, float* log_sums);

// From dout, the gradient of out, computes the gradients of q, k and v.
void attention_backward(const Attention& job, const float* log_sums, ConstRows dout, Rows<float> dq,
                        Rows<float> dk, Rows<float> dv);

}  // namespace cpl::simd
