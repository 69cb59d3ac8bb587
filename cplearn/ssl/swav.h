#pragma once
// SwAV: a view predicts to which prototypes another view of the image is assigned, where the
// assignments of a batch are balanced over prototypes by Sinkhorn's algorithm.
//
//   q = sinkhorn(scores / epsilon),   loss = -mean_i sum_j q_ij log softmax_j(scores' / T)
//
// Caron, Misra, Mairal, Goyal, Bojanowski, Joulin, "Unsupervised Learning of Visual Features by
// Contrasting Cluster Assignments", NeurIPS 2020.

#include "cplearn/ssl/method.h"
#include "cplearn/ssl/swav_options.h"

namespace cpl {

// Balanced assignments of n rows to c prototypes, in log space: alternately every column is made to
// sum to n / c and every row to 1. Rows end exact. scores: n x c.
at::Tensor sinkhorn(const at::Tensor& scores, double epsilon, std::int64_t iterations);

}  // namespace cpl
