#pragma once
// A few of many rows, spread over all of them.

#include <cstdint>
#include <vector>

namespace cpl {

// One row, drawn at random, of each `stride` rows in turn. (Rows at a fixed distance may all be of
// one class, or of one view.)
std::vector<std::int64_t> sample_rows(std::int64_t rows, std::int64_t stride, std::uint64_t seed);

}  // namespace cpl
