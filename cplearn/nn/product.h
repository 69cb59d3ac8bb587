#pragma once
// Matrix products of tensors by simd/gemm.h on all threads: near a good BLAS library's speed on
// every processor, also on one that the library does not know. The last bits do not even depend on
// the number of threads. None of these is differentiable: nn/linear.h is.

#include <ATen/core/Tensor.h>

namespace cpl {

// Whether simd::gemm computes them: float or double, all the same, on the CPU. ATen does otherwise.
bool product_supports(const at::Tensor& a, const at::Tensor& b);

// a (m x k) b (k x n), of any strides.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

// out = a b, and out += a b. The columns of out are neighbours in memory.
void product_out(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace cpl
