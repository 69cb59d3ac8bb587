#pragma once
// VICReg: views of an image close to each other (invariance), every feature with a standard
// deviation of at least 1 over the batch (variance), features uncorrelated (covariance).
//
//   loss = s mean (z0 - z1)^2 + v mean_views mean_j max(0, 1 - std_j) + c sum_views sum_{i != j}
//   Cov_ij^2 / d
//
// Bardes, Ponce, LeCun, "VICReg: Variance-Invariance-Covariance Regularization for Self-Supervised
// Learning", ICLR 2022.

#include "cplearn/ssl/method.h"
#include "cplearn/ssl/vicreg_options.h"

namespace cpl {

// z0, z1: n x d on each worker; variances and covariances are over the rows of all. Terms:
// invariance, variance, covariance (not weighted).
NamedLoss vicreg_loss(const at::Tensor& z0, const at::Tensor& z1, const VicregOptions& options,
                      WorkerGroup& workers);

}  // namespace cpl
