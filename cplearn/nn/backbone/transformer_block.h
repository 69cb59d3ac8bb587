#pragma once
// A block of a transformer in one piece, for floats on a CPU:
//
//     y   = x + scale1 proj(attention(qkv(norm1(x))))
//     out = y + scale2 fc2(gelu(fc1(norm2(y))))
//
// Forward and backward each go through the tokens once, a few at a time: what lies between two
// products stays in the cache, and only what the backward pass cannot cheaply compute again is
// written to memory (qkv, the attention's result, y, and fc1's).

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace cpl {

// Weights and biases of norm1, qkv, proj, norm2, fc1 and fc2, in this order.
using BlockParameters = std::vector<torch::Tensor>;

// Whether there is a fast path: floats on the CPU, no autocast, and heads of a suitable width.
bool transformer_block_supports(const torch::Tensor& x, const BlockParameters& parameters,
                                std::int64_t heads);

struct BlockCall {
  std::int64_t heads = 1;
  double epsilon = 1e-6;  // of the norms
  // Only the first token's result is wanted (n x 1 x width): the others are then only keys and
  // values, and the network's last block costs a sixth.
  bool first_only = false;
  // n numbers that the branches are multiplied by (stochastic depth), or undefined.
  torch::Tensor scale1, scale2;
};

// x: n x tokens x width, and so is the result. Differentiable with respect to x and parameters.
torch::Tensor transformer_block(const torch::Tensor& x, const BlockParameters& parameters,
                                const BlockCall& call);

}  // namespace cpl
