#pragma once
// Principal components: the directions in which points vary most.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cpl {

// The points' coordinates along the first `components` directions, largest variance first: n x
// components, float. `x`: n x d. The sign is such that each direction's largest entry is positive.
// Directions beyond min(n, d) are zeros.
at::Tensor principal_components(const at::Tensor& x, std::int64_t components);

}  // namespace cpl
