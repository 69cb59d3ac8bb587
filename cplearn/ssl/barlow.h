#pragma once
// Barlow Twins: the features of two views, each standardised over the batch, should correlate with
// their counterpart and with nothing else.
//
//   C = z0' z1 / n,   loss = scale * (sum_i (C_ii - 1)^2 + lambda sum_{i != j} C_ij^2)
//
// Zbontar, Jing, Misra, LeCun, Deny, "Barlow Twins: Self-Supervised Learning via Redundancy
// Reduction", ICML 2021.

#include "cplearn/ssl/barlow_options.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// z0, z1: n x d on each worker; correlations are over the rows of all. Terms: on_diagonal,
// off_diagonal (sums of squares, not weighted).
NamedLoss barlow_loss(const at::Tensor& z0, const at::Tensor& z1, const BarlowOptions& options,
                      WorkerGroup& workers);

}  // namespace cpl
