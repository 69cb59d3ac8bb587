#pragma once
// Codes of hyperdimensional computing in the multiply-add-permute scheme: vectors of +-1, packed
// one bit per dimension (a set bit means -1), and their algebra. Binding is multiplication,
// bundling is the sign of the sum, permuting is a rotation of the coordinates.
//
// Kleyko et al., "A survey on hyperdimensional computing", 2022.

#include <cstdint>
#include <vector>

namespace cpl {

class Code {
 public:
  Code() = default;
  explicit Code(std::int64_t width);  // all +1, the neutral element of bind

  // i.i.d. signs, the same on every machine.
  static Code random(std::int64_t width, std::uint64_t seed, std::uint64_t index);

  std::int64_t width() const { return width_; }
  bool negative(std::int64_t k) const { return (words_[word(k)] >> (k % 64)) & 1; }
  int sign(std::int64_t k) const { return negative(k) ? -1 : 1; }
  void set_negative(std::int64_t k, bool value);

  // Bits beyond the width are zero.
  const std::vector<std::uint64_t>& words() const { return words_; }
  std::vector<std::uint64_t>& words() { return words_; }

  bool operator==(const Code& other) const {
    return width_ == other.width_ && words_ == other.words_;
  }

 private:
  static std::size_t word(std::int64_t k) { return static_cast<std::size_t>(k / 64); }

  std::int64_t width_ = 0;
  std::vector<std::uint64_t> words_;
};

// Elementwise product. Its own inverse: bind(bind(a, b), b) == a. Unlike both of its factors.
Code bind(const Code& a, const Code& b);

// Elementwise majority. Like each of its parts. Ties (an even number of parts) are broken by random
// signs that depend on `seed` alone.
Code bundle(const std::vector<Code>& parts, std::uint64_t seed = 0);

// Rotates the coordinates: result[k + steps] = a[k]. permute(permute(a, s), -s) == a.
Code permute(const Code& a, std::int64_t steps);

// Cosine, in [-1, 1].
double similarity(const Code& a, const Code& b);

}  // namespace cpl
