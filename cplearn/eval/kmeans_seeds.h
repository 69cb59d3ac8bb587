#pragma once
// Seeds for k-means and mixtures.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cpl {

// Greedy k-means++ as scikit-learn's: each seed is the best of 2 + ln k points drawn with
// probability proportional to weight * squared distance to the seeds so far. All restarts advance
// together, so that a step is one matrix product. Where points are plenty, seeds come from a
// sample. `points`: n x d float, contiguous, centred (distances are |x|^2 - 2 x c + |c|^2 in
// float). `norms`: n, |x|^2. `weights`: n. Returns the indices of k points for each restart.
std::vector<std::vector<std::int64_t>> kmeans_seeds(const at::Tensor& points,
                                                    const at::Tensor& norms,
                                                    const std::vector<double>& weights,
                                                    std::int64_t clusters, int restarts,
                                                    std::uint64_t seed);

}  // namespace cpl
