#pragma once
// Does a map keep neighbours? (Venna and Kaski, 2001; equal to scikit-learn's.)

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cpl {

// 1 when each of a point's `neighbours` nearest in the map is one in the original too; points that
// intrude count by how far down they are in the original's order. About 0.5 for random maps.
// `x`: n x d, `map`: n x m, neighbours < n / 2. Time O(n^2 d), memory O(n).
double trustworthiness(const at::Tensor& x, const at::Tensor& map, std::int64_t neighbours);

}  // namespace cpl
