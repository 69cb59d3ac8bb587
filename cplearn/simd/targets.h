#pragma once
// For which instruction sets kernels are compiled. To be included before any header of Highway.
//
// Not for scalable vectors (SVE, RVV), which cannot be kept in arrays. Not for sets that gain these
// kernels nothing over their neighbour, because each costs the compiler as much as the others:
// SSSE3 (4096) beside SSE4, and AVX3_DL (128), AVX3_ZEN4 (64), AVX3_SPR (16) beside AVX3, by their
// numbers because older versions of Highway do not have the names.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | 4096 | 128 | 64 | 16)
