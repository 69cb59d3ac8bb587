#include "cplearn/hdc/code.h"

#include <bitset>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"

namespace cpl {
namespace {

void clear_padding(Code& code) {
  const std::int64_t used = code.width() % 64;
  if (used != 0) code.words().back() &= ~std::uint64_t{0} >> (64 - used);
}

void check_same_width(const Code& a, const Code& b, const char* operation) {
  CPL_CHECK(a.width() == b.width(), operation, ": codes of different widths, ", a.width(), " and ",
            b.width(), "; both must come from the same dictionary");
}

}  // namespace

Code::Code(std::int64_t width) : width_(width) {
  CPL_CHECK(width >= 1, "code: width must be at least 1, got ", width);
  words_.assign(static_cast<std::size_t>((width + 63) / 64), 0);
}

Code Code::random(std::int64_t width, std::uint64_t seed, std::uint64_t index) {
  Code code(width);
  Random random(seed, Stream::kDictionary, index);
  for (std::uint64_t& word : code.words_) word = random.bits64();
  clear_padding(code);
  return code;
}

void Code::set_negative(std::int64_t k, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << (k % 64);
  words_[word(k)] = value ? words_[word(k)] | bit : words_[word(k)] & ~bit;
}

Code bind(const Code& a, const Code& b) {
  check_same_width(a, b, "bind");
  Code result = a;
  for (std::size_t i = 0; i < result.words().size(); ++i) result.words()[i] ^= b.words()[i];
  return result;
}

Code bundle(const std::vector<Code>& parts, std::uint64_t seed) {
  CPL_CHECK(!parts.empty(), "bundle: needs at least one code");
  const std::int64_t width = parts.front().width();
  std::vector<std::int64_t> negatives(static_cast<std::size_t>(width), 0);
  for (const Code& part : parts) {
    check_same_width(part, parts.front(), "bundle");
    for (std::int64_t k = 0; k < width; ++k)
      negatives[static_cast<std::size_t>(k)] += part.negative(k);
  }
  const Code ties = Code::random(width, seed, ~std::uint64_t{0});
  const auto count = static_cast<std::int64_t>(parts.size());
  Code result(width);
  for (std::int64_t k = 0; k < width; ++k) {
    const std::int64_t twice = 2 * negatives[static_cast<std::size_t>(k)];
    result.set_negative(k, twice == count ? ties.negative(k) : twice > count);
  }
  return result;
}

Code permute(const Code& a, std::int64_t steps) {
  Code result(a.width());
  const std::int64_t shift = ((steps % a.width()) + a.width()) % a.width();
  for (std::int64_t k = 0; k < a.width(); ++k)
    result.set_negative((k + shift) % a.width(), a.negative(k));
  return result;
}

double similarity(const Code& a, const Code& b) {
  check_same_width(a, b, "similarity");
  std::int64_t differ = 0;
  for (std::size_t i = 0; i < a.words().size(); ++i)
    differ += static_cast<std::int64_t>(std::bitset<64>(a.words()[i] ^ b.words()[i]).count());
  return 1.0 - 2.0 * static_cast<double>(differ) / static_cast<double>(a.width());
}

}  // namespace cpl
