#pragma once
// Matrix products on one core, in the kernels of whatever processor this is: a BLAS library guesses
// its kernels from a list of processors, and falls far behind on one that it does not know.
//
// Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 2008.

#include <cstdint>

namespace cpl::simd {

// C (m x n) = A (m x k) B (k x n), or added to C. Strides count elements; one of the two strides of
// A must be 1, and one of B's. C overlaps neither. The sum over k is cut in the same places for any
// m and n, so that rows and columns may be shared out among threads without a change of a bit.
template <class T>  // float or double
struct Gemm {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_row, a_column;
  const T* b;
  std::int64_t b_row, b_column;
  T* c;
  std::int64_t c_row;
  bool add = false;
  bool b_packed = false;  // b comes from pack_b (with these n and k), its strides are not used
};

template <class T>
void gemm(const Gemm<T>& job);

// For products that use the same B many times: B as the kernel reads it, in panels of gemm_panel()
// columns, [panel][k][column], the last panel filled up with zeros.
template <class T>
std::int64_t gemm_panel();
template <class T>
std::int64_t packed_b_size(std::int64_t n, std::int64_t k) {
  return (n + gemm_panel<T>() - 1) / gemm_panel<T>() * gemm_panel<T>() * k;
}
template <class T>
void pack_b(std::int64_t n, std::int64_t k, const T* b, std::int64_t b_row, std::int64_t b_column,
            T* packed);

// The stride for rows of `length` elements that gemm reads fastest, and without a copy: an odd
// number of cache lines, so that neighbours never compete for the same place in a cache.
template <class T>
constexpr std::int64_t gemm_stride(std::int64_t length) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  return ((length + kLine - 1) / kLine | 1) * kLine;
}

}  // namespace cpl::simd
