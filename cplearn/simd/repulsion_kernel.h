#pragma once
// Student-t repulsion in the plane, the costly part of t-SNE, on one core.

#include <cstdint>

namespace cpl::simd {

// Masses at points; clusters of far points count as one body.
struct Bodies {
  const float* x = nullptr;
  const float* y = nullptr;
  const float* mass = nullptr;
  std::int64_t count = 0;
};

// For each of `count` points, with q_k = 1 / (1 + distance to body k squared):
//   force_x[i] = sum_k mass_k q_k^2 (x_i - x_k), force_y likewise, sum[i] = sum_k mass_k q_k.
void repel(const Bodies& bodies, const float* x, const float* y, std::int64_t count, float* force_x,
           float* force_y, float* sum);

}  // namespace cpl::simd
