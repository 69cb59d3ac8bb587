#pragma once
// The frozen dictionary W (width x codes, entries +-1), stored in bits and made from a seed.
//
//   rademacher  i.i.d. signs, the paper's. width * codes bits.
//   hadamard    blocks [D_1 M, D_2 M, ...], M a Hadamard matrix, D_b a diagonal of i.i.d. signs.
//               Codes of a block are exactly orthogonal, which i.i.d. codes are only on average;
//               between blocks the cosine has mean 0 and variance 1/width, as in the paper. About
//               one bit per code, and H W is a fast transform.
//
// Hadamard matrices exist here for 2^k, 12 * 2^k and 20 * 2^k. For any other width, M has the next
// such order and only its first `width` rows are used: the codes of a block are then orthogonal up
// to cosines that vanish on average (see tests/hdc/dictionary_test.cpp for the measured coherence).

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/hdc/code.h"
#include "cplearn/simd/head_kernel.h"

namespace cpl {

enum class DictionaryKind { kHadamard, kRademacher };

// The epsilon of the paper: codes get at least this probability at the optimum, so c < 1 / epsilon.
inline constexpr double kEpsilon = 1e-8;

class Dictionary {
 public:
  Dictionary(DictionaryKind kind, std::int64_t width, std::int64_t codes, std::uint64_t seed);

  // From stored bits, as bits() gave them.
  Dictionary(DictionaryKind kind, std::int64_t width, std::int64_t codes, std::uint64_t seed,
             std::vector<std::uint8_t> bits);

  DictionaryKind kind() const { return kind_; }
  std::int64_t width() const { return view_.width; }
  std::int64_t codes() const { return view_.codes; }
  std::uint64_t seed() const { return seed_; }

  // Codes that are made together: the order of the Hadamard matrix.
  std::int64_t block() const { return view_.tile; }

  const std::vector<std::uint8_t>& bits() const { return bits_; }

  // What the kernels read; valid while this dictionary lives.
  simd::CodeView view() const;

  Code code(std::int64_t j) const;

  // Row-major width x codes, +-1: for the plain graph and for pictures, never for training.
  std::vector<float> dense() const;

  // The mean of all codes, a number for each dimension.
  std::vector<float> mean() const;

  // The most similar code and its cosine. The first of equals.
  struct Match {
    std::int64_t code;
    double similarity;
  };
  Match nearest(const Code& query) const;

 private:
  void check_shape() const;

  DictionaryKind kind_;
  std::uint64_t seed_;
  simd::CodeView view_;
  std::vector<std::uint8_t> bits_;
};

}  // namespace cpl
