#include "cplearn/hdc/coherence.h"

#include <algorithm>
#include <cmath>

#include "cplearn/base/random.h"

namespace cpl {
namespace {

std::vector<Code> all_codes(const Dictionary& dictionary) {
  std::vector<Code> codes;
  codes.reserve(static_cast<std::size_t>(dictionary.codes()));
  for (std::int64_t j = 0; j < dictionary.codes(); ++j) codes.push_back(dictionary.code(j));
  return codes;
}

class Accumulator {
 public:
  explicit Accumulator(std::int64_t width) {
    result_.histogram.assign(static_cast<std::size_t>(width) + 1, 0);
  }

  void add(double cosine) {
    ++result_.pairs;
    sum_ += cosine;
    squares_ += cosine * cosine;
    result_.maximum = std::max(result_.maximum, std::abs(cosine));
    ++result_.histogram[static_cast<std::size_t>(
        std::lround((1 - cosine) / 2 * static_cast<double>(result_.histogram.size() - 1)))];
  }

  Coherence finish(bool exhaustive) {
    result_.exhaustive = exhaustive;
    if (result_.pairs > 0) {
      const auto count = static_cast<double>(result_.pairs);
      result_.mean = sum_ / count;
      result_.variance = squares_ / count - result_.mean * result_.mean;
    }
    return result_;
  }

 private:
  Coherence result_;
  double sum_ = 0, squares_ = 0;
};

}  // namespace

Coherence coherence(const Dictionary& dictionary, std::int64_t max_pairs, std::uint64_t seed) {
  Accumulator pairs(dictionary.width());
  const std::int64_t codes = dictionary.codes();
  if (codes * (codes - 1) / 2 <= max_pairs) {
    const std::vector<Code> all = all_codes(dictionary);
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) pairs.add(similarity(all[a], all[b]));
    }
    return pairs.finish(true);
  }
  Random random(seed, Stream::kTheory);
  while (max_pairs > 0) {
    const std::int64_t a = random.below(static_cast<std::uint32_t>(codes));
    const std::int64_t b = random.below(static_cast<std::uint32_t>(codes));
    if (a == b) continue;
    pairs.add(similarity(dictionary.code(a), dictionary.code(b)));
    --max_pairs;
  }
  return pairs.finish(false);
}

std::vector<float> cosine_matrix(const Dictionary& dictionary) {
  const std::vector<Code> all = all_codes(dictionary);
  std::vector<float> matrix;
  matrix.reserve(all.size() * all.size());
  for (const Code& a : all) {
    for (const Code& b : all) matrix.push_back(static_cast<float>(similarity(a, b)));
  }
  return matrix;
}

}  // namespace cpl
