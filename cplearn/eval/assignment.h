#pragma once
// The assignment problem: pairs rows with columns so that the total is largest.

#include <cstdint>
#include <vector>

namespace cpl {

// `gain`: rows x columns, row-major. Returns the column of each row, -1 for rows left over when
// there are more rows than columns. Shortest augmenting paths (the "Hungarian" method in the form
// of Jonker and Volgenant, 1987): O(min^2 max) time.
std::vector<std::int64_t> best_assignment(const std::vector<double>& gain, std::int64_t rows,
                                          std::int64_t columns);

}  // namespace cpl
