#pragma once
// The paper's statements, built and checked numerically in double precision.

#include <cstdint>
#include <string>
#include <vector>

namespace cpl {

struct TheoryOptions {
  std::int64_t width = 64;   // f = c; an order of a Hadamard matrix: 4, 8, 12, 16, 20, 24, ...
  std::int64_t batch = 256;  // n; a multiple of the width
  double beta = 0.5;
  std::uint64_t seed = 0;
};

struct TheoryCheck {
  std::string statement;  // "Lemma 1", "Theorem 1", ...
  std::string what;
  double expected;
  double found;
  double tolerance;
  // Most checks are equalities. An inequality holds when found >= expected - tolerance.
  bool at_least = false;

  bool holds() const;
};

std::vector<TheoryCheck> check_theory(const TheoryOptions& options);

}  // namespace cpl
