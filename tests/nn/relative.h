#pragma once
#include <torch/types.h>

namespace cpl {

// Largest difference, as a part of the largest value.
inline double relative(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item<double>();
}

}  // namespace cpl
