#pragma once
// k-means: greedy k-means++ seeds (Arthur and Vassilvitskii, 2007), Lloyd's iterations with
// Hamerly's bounds (2010): exact, but distances are computed only for points that may change
// cluster, as matrix products.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cplearn/eval/contingency.h"

namespace cpl {

struct KMeansOptions {
  std::int64_t clusters = 10;
  int restarts = 10;  // the one with the least inertia is kept
  int max_iterations = 300;
  double tolerance = 1e-4;  // stops when the centres' squared moves sum to this times the variance
  std::uint64_t seed = 0;
};

struct KMeans {
  at::Tensor centres;  // k x d, float
  Labels labels;       // n, the nearest centre of each point
  double inertia = 0;  // sum of weight * squared distance to the own centre
  int iterations = 0;  // of the kept restart
};

// `points`: n x d, any floating type. `weights`: n, positive, or undefined for 1 each.
// The result depends on the seed and, in rounding, on the number of threads.
KMeans kmeans(const at::Tensor& points, const KMeansOptions& options,
              const at::Tensor& weights = {});

// Codes merged to `options.clusters` clusters without labels: k-means on the mean embedding of
// each code in use, weighted by its number of points. `points`: n x d, `codes`: n.
// Returns a cluster for each point. With fewer codes in use than clusters, each keeps its own.
Labels merge_codes(const at::Tensor& points, const Labels& codes, KMeansOptions options);

}  // namespace cpl
