#pragma once
// What kernels on maps (n x height x width x channels) ask of the channels.

#include <cstdint>

namespace cpl::simd {

// They have to be a multiple of this, the longest vector of any instruction set.
constexpr std::int64_t kChannelMultiple = 16;

}  // namespace cpl::simd
