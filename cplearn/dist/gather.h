#pragma once
// The rows of all workers, differentiably. Gradients are averaged over the workers after backward:
// a loss that every worker computes from gathered rows then has the gradient of one worker's loss
// on the whole batch, for parameters before and behind the gathering alike.

#include <ATen/core/Tensor.h>

#include "cplearn/dist/worker_group.h"

namespace cpl {

// n x ... on each worker in, (size * n) x ... out, in the order of the ranks. Every worker must
// call with the same shape.
at::Tensor gather_rows(const at::Tensor& rows, WorkerGroup& workers);

// The rows of this worker among gathered ones.
at::Tensor own_rows(const at::Tensor& gathered, std::int64_t rows, const WorkerGroup& workers);

}  // namespace cpl
