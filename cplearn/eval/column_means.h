#pragma once
// Means over the rows of a matrix of floats, added up in double in one pass over memory. at::mean
// into another type than its input's is ten times slower.

#include <ATen/core/Tensor.h>

namespace cpl {

// `rows`: n x d, float on the processor. d, double. Not finite if any value is not: sums of floats
// do not overflow a double.
at::Tensor column_means(const at::Tensor& rows);
at::Tensor column_mean_squares(const at::Tensor& rows);

}  // namespace cpl
