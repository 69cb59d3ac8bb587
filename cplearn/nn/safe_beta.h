#pragma once
// How much weight the invariance term may have before "all embeddings alike" attracts
// (docs/collapse.md).
//
// For embeddings h = hbar + delta of unit length, and rho = E[delta . delta'] / E|delta|^2 the
// correlation of two views, the loss grows towards the constant state as long as
//
//   beta (1 - rho) < 1/2.

#include <ATen/core/Tensor.h>

#include "cplearn/dist/worker_group.h"

namespace cpl {

// rho of a batch, a scalar: h0, h1 n x d on each worker, over the rows of all.
at::Tensor view_correlation(const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers);

// Four fifths of what the law allows, and at most 1, where an image's code counts as much as the
// use of all codes.
double safe_beta(double correlation);

}  // namespace cpl
