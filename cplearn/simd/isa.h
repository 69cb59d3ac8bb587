#pragma once
// Instruction sets: which ones this machine has, and how to force one.

#include <string>
#include <vector>

namespace cpl::simd {

// Names of the instruction sets that this binary has kernels for and this machine can run, best
// first, for instance {"AVX2", "SSE4", "SCALAR"}.
std::vector<std::string> instruction_sets();

// The one in use.
std::string instruction_set();

// Uses `name` from now on, or the best again if it is empty. Not thread-safe: call it before work
// starts. The environment variable CPLEARN_ISA does the same for a whole process.
void force_instruction_set(const std::string& name);

}  // namespace cpl::simd
