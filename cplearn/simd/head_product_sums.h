#pragma once
// A part of the head's kernel in a source of its own: it shares little with the others, and
// compilers can work on both at a time. Who calls: row_sums() in head_kernel.cpp.

#include "cplearn/simd/head_kernel.h"

namespace cpl::simd {

// row_sums() by products in place of exponentials, for bounded logits and tiles of which all codes
// exist: see product_sums-inl.h.
void product_row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
                      std::int64_t tile_end, double* sum, float* expected);

}  // namespace cpl::simd
