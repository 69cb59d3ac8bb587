#pragma once
// The workers that share one batch. This class is the group of one; a group of several overrides
// it. What a method computes over "the batch" (means, normalisations, priors) goes through here, so
// that n workers with batch b compute what one worker with batch n * b would.

#include <ATen/core/Tensor.h>

namespace cpl {

class WorkerGroup {
 public:
  virtual ~WorkerGroup() = default;
  virtual int size() const { return 1; }
  virtual int rank() const { return 0; }
  // In place, over all workers; every worker must call with the same shape, in the same order.
  virtual void sum(at::Tensor& /*values*/) {}
};

}  // namespace cpl
