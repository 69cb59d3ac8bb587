#pragma once
// The parts of the head's kernel, each in a source of its own: together they take a compiler two
// minutes. Who calls: head_kernel.cpp.

#include "cplearn/simd/head_kernel.h"

namespace cpl::simd {

// row_sums() by exponentials, for every dictionary.
void exponential_row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
                          std::int64_t tile_end, bool bounded, float* max, double* sum,
                          float* expected);

// row_sums() by products, for bounded logits and tiles of which all codes exist: see
// product_sums-inl.h.
void product_row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
                      std::int64_t tile_end, double* sum, float* expected);

}  // namespace cpl::simd
