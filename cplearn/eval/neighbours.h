#pragma once
// Exact nearest neighbours by blocked matrix products: memory does not grow with n m.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace cpl {

// The best `k` rows of `known` for each row of `asked`, best first; of equals the earlier one.
struct Neighbours {
  at::Tensor index;  // m x k, int64
  at::Tensor value;  // m x k, float: similarity, or squared distance
};

// The largest products of rows. `known`: n x d, `asked`: m x d, k <= n.
Neighbours most_similar(const at::Tensor& asked, const at::Tensor& known, std::int64_t k);

// The nearest other rows of x (n x d) in Euclidean distance, k < n; a row is not its own neighbour.
Neighbours nearest_others(const at::Tensor& x, std::int64_t k);

}  // namespace cpl
