#pragma once
// How much two views of an image have in common, as far as the loss can see. It decides from which
// weight of the invariance term on "all embeddings alike" attracts (docs/collapse.md): for
// embeddings of length 1, where beta (1 - rho) > 1/2.

#include <ATen/core/Tensor.h>

#include "cplearn/dist/worker_group.h"

namespace cpl {

// rho = E[delta . delta'] / E|delta|^2, delta the deviation from the mean embedding; a scalar.
// h0, h1: n x d on each worker; over the rows of all. 0 where nothing deviates.
at::Tensor view_correlation(const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers);

}  // namespace cpl
