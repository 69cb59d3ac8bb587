#pragma once
// Counter-based random numbers (Philox4x32-10): a draw depends only on its key and its counter, so
// data order, augmentation and dictionaries are the same on every machine, whatever the number of
// threads or workers, and there is no generator state to lose.
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

#include <array>
#include <cmath>
#include <cstdint>

namespace cpl {

using Philox4 = std::array<std::uint32_t, 4>;

constexpr Philox4 philox(Philox4 counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// What a stream of random numbers is for. Part of the key, so that two uses never share numbers.
enum class Stream : std::uint32_t {
  kDictionary = 1,
  kShuffle = 2,
  kAugment = 3,
  kShapes = 4,
  kInit = 5,
  kEval = 6,
  kTheory = 7,
  kDirections = 8,
  kAlteration = 9,
};

// An endless sequence for (seed, stream, a, b, c). Satisfies UniformRandomBitGenerator.
class Random {
 public:
  using result_type = std::uint32_t;

  // `a` and `b` are the coordinates of the draw, for instance image and epoch * views + view.
  Random(std::uint64_t seed, Stream stream, std::uint64_t a = 0, std::uint32_t b = 0)
      : key_{static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32) ^ (static_cast<std::uint32_t>(stream) << 24)},
        counter_{0, b, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)} {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xFFFFFFFFu; }

  result_type operator()() {
    if (used_ == 4) {
      block_ = philox(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

  std::uint64_t bits64() {
    const std::uint64_t low = (*this)();
    return low | (std::uint64_t{(*this)()} << 32);
  }

  // Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>((*this)() >> 8) * (1.0f / 16777216.0f); }
  float uniform(float low, float high) { return low + (high - low) * uniform(); }

  // Uniform integer in [0, n), by multiplication: the bias is under n / 2^32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{(*this)()} * n) >> 32);
  }

  bool chance(float probability) { return uniform() < probability; }

  // Standard normal (Box-Muller; the second value of a pair is kept for the next call).
  float normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(((*this)() + 1.0) * (1.0 / 4294967296.0)));
    const double angle = 6.283185307179586 * (*this)() * (1.0 / 4294967296.0);
    spare_ = static_cast<float>(radius * std::sin(angle));
    has_spare_ = true;
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  std::array<std::uint32_t, 2> key_;
  Philox4 counter_;
  Philox4 block_{};
  int used_ = 4;
  float spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace cpl
