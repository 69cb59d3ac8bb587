#pragma once
// Matrix products of tensors by simd/gemm.h on all threads: near a good BLAS library's speed on
// every processor, also on one that the library does not know. The last bits do not even depend on
// the number of threads. None of these is differentiable: nn/linear.h is.

#include <ATen/core/Tensor.h>

namespace cpl {

// Whether simd::gemm computes them: float or double, both of the same type, on the CPU. Others are
// left to ATen.
bool product_supports(const at::Tensor& a, const at::Tensor& b);

// Whether libtorch is to choose the type of products on the CPU (bf16), which are then its own.
bool cpu_autocast();

// a (m x k) b (k x n), of any strides.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

// out = a b, and out += a b. The columns of out are neighbours in memory.
void product_out(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace cpl
