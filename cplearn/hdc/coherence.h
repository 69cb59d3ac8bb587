#pragma once
// How orthogonal a dictionary's codes are: the cosines of pairs of different codes.

#include <cstdint>
#include <vector>

#include "cplearn/hdc/dictionary.h"

namespace cpl {

struct Coherence {
  std::int64_t pairs = 0;   // pairs looked at
  bool exhaustive = false;  // all of them, not a sample
  double mean = 0;
  double variance = 0;
  double maximum = 0;  // largest absolute cosine
  // Pairs at each Hamming distance 0..width: their cosine is 1 - 2 * distance / width.
  std::vector<std::int64_t> histogram;
};

// All pairs if there are at most `max_pairs`, else that many drawn from `seed`.
Coherence coherence(const Dictionary& dictionary, std::int64_t max_pairs, std::uint64_t seed);

// Row-major codes x codes: the cosines W'W / width.
std::vector<float> cosine_matrix(const Dictionary& dictionary);

}  // namespace cpl
