#include "cplearn/hdc/dictionary.h"

#include <algorithm>
#include <cstring>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/simd/paley.h"

namespace cpl {
namespace {

// Codes per tile of i.i.d. signs: large enough to share the tables of a row group, small enough to
// stay in the cache with them.
constexpr std::int64_t kRademacherTile = 256;

struct Order {
  std::int64_t order;
  int base;
};

// The smallest order of a Hadamard matrix that is at least `width`.
Order hadamard_order(std::int64_t width) {
  Order best{1, 1};
  while (best.order < width) best.order *= 2;
  for (const int base : {12, 20}) {
    std::int64_t order = base;
    while (order < width) order *= 2;
    if (order < best.order) best = {order, base};
  }
  return best;
}

simd::CodeView make_view(DictionaryKind kind, std::int64_t width, std::int64_t codes) {
  simd::CodeView view;
  view.width = width;
  view.codes = codes;
  if (kind == DictionaryKind::kHadamard) {
    const Order order = hadamard_order(width);
    view.kind = simd::CodeKind::kHadamard;
    view.tile = order.order;
    view.base = order.base;
  } else {
    view.kind = simd::CodeKind::kRademacher;
    view.tile = kRademacherTile;
  }
  return view;
}

// Rows of signs that the dictionary stores: one per block, or one per code.
std::int64_t stored_rows(const simd::CodeView& view) {
  return view.kind == simd::CodeKind::kHadamard ? view.tiles() : view.codes;
}

bool parity(std::uint64_t x) { return __builtin_parityll(x) != 0; }

// Whether M has -1 in row k, column j, M = Paley_base (x) Sylvester.
bool hadamard_negative(const simd::CodeView& view, std::int64_t k, std::int64_t j) {
  const std::int64_t power = view.tile / view.base;
  const bool sylvester = parity(static_cast<std::uint64_t>((k % power) & (j % power)));
  const auto row = k / power, column = j / power;
  bool paley = false;
  if (view.base == 12) paley = simd::kPaley<12>.negative[row][column];
  if (view.base == 20) paley = simd::kPaley<20>.negative[row][column];
  return sylvester != paley;
}

}  // namespace

Dictionary::Dictionary(DictionaryKind kind, std::int64_t width, std::int64_t codes,
                       std::uint64_t seed)
    : kind_(kind), seed_(seed), view_() {
  view_.width = width;
  view_.codes = codes;
  check_shape();
  view_ = make_view(kind, width, codes);
  const std::int64_t rows = stored_rows(view_), row_bytes = view_.row_bytes();
  bits_.resize(static_cast<std::size_t>(rows * row_bytes));
  for (std::int64_t row = 0; row < rows; ++row) {
    const Code signs = Code::random(width, seed, static_cast<std::uint64_t>(row));
    std::uint8_t* target = bits_.data() + row * row_bytes;
    for (std::int64_t byte = 0; byte < row_bytes; ++byte)
      target[byte] = static_cast<std::uint8_t>(signs.words()[static_cast<std::size_t>(byte / 8)] >>
                                               (byte % 8 * 8));
  }
}

Dictionary::Dictionary(DictionaryKind kind, std::int64_t width, std::int64_t codes,
                       std::uint64_t seed, std::vector<std::uint8_t> bits)
    : kind_(kind), seed_(seed), view_(), bits_(std::move(bits)) {
  view_.width = width;
  view_.codes = codes;
  check_shape();
  view_ = make_view(kind, width, codes);
  const std::int64_t expected = stored_rows(view_) * view_.row_bytes();
  CPL_CHECK(static_cast<std::int64_t>(bits_.size()) == expected, "dictionary: ", codes,
            " codes of width ", width, " take ", expected, " bytes, got ", bits_.size(),
            "; the file belongs to another dictionary or is damaged");
}

void Dictionary::check_shape() const {
  CPL_CHECK(view_.width >= 1 && view_.width <= (std::int64_t{1} << 20),
            "dictionary: width must be between 1 and 1048576, got ", view_.width);
  CPL_CHECK(view_.codes >= 1, "dictionary: codes must be at least 1, got ", view_.codes);
  CPL_CHECK(static_cast<double>(view_.codes) < 1.0 / kEpsilon,
            "dictionary: codes must be under 1/eps = ", 1.0 / kEpsilon,
            " so that every code can have probability eps, got ", view_.codes);
}

simd::CodeView Dictionary::view() const {
  simd::CodeView view = view_;
  view.bits = bits_.data();
  return view;
}

Code Dictionary::code(std::int64_t j) const {
  CPL_CHECK(j >= 0 && j < codes(), "dictionary: code must be between 0 and ", codes() - 1, ", got ",
            j);
  const bool hadamard = kind_ == DictionaryKind::kHadamard;
  const std::int64_t row = hadamard ? j / view_.tile : j;
  const std::uint8_t* signs = bits_.data() + row * view_.row_bytes();
  Code code(width());
  for (std::int64_t byte = 0; byte < view_.row_bytes(); ++byte)
    code.words()[static_cast<std::size_t>(byte / 8)] |= std::uint64_t{signs[byte]}
                                                        << (byte % 8 * 8);
  // Stored bits beyond the width mean nothing, whatever a file says.
  if (width() % 64 != 0) code.words().back() &= ~std::uint64_t{0} >> (64 - width() % 64);
  if (!hadamard) return code;
  for (std::int64_t k = 0; k < width(); ++k) {
    if (hadamard_negative(view_, k, j % view_.tile))
      code.words()[static_cast<std::size_t>(k / 64)] ^= std::uint64_t{1} << (k % 64);
  }
  return code;
}

std::vector<float> Dictionary::dense() const {
  const bool hadamard = kind_ == DictionaryKind::kHadamard;
  std::vector<float> w(static_cast<std::size_t>(width() * codes()));
  for (std::int64_t k = 0; k < width(); ++k) {
    float* row = w.data() + k * codes();
    for (std::int64_t j = 0; j < codes(); ++j) {
      const std::int64_t stored = hadamard ? j / view_.tile : j;
      bool negative =
          (bits_[static_cast<std::size_t>(stored * view_.row_bytes() + k / 8)] >> (k % 8)) & 1;
      if (hadamard) negative = negative != hadamard_negative(view_, k, j % view_.tile);
      row[j] = negative ? -1.0f : 1.0f;
    }
  }
  return w;
}

std::vector<float> Dictionary::mean() const {
  const bool hadamard = kind_ == DictionaryKind::kHadamard;
  const std::int64_t block = hadamard ? view_.tile : 1;
  std::vector<double> sum(static_cast<std::size_t>(width()));
  // All blocks but the last have the same sum, up to their signs.
  const auto add_blocks = [&](std::int64_t begin, std::int64_t end, std::int64_t size) {
    for (std::int64_t k = 0; k < width(); ++k) {
      std::int64_t plain = 0;
      for (std::int64_t j = 0; j < size; ++j)
        plain += hadamard && hadamard_negative(view_, k, j) ? -1 : 1;
      for (std::int64_t b = begin; b < end; ++b) {
        const auto byte = static_cast<std::size_t>(b * view_.row_bytes() + k / 8);
        sum[static_cast<std::size_t>(k)] +=
            static_cast<double>((bits_[byte] >> (k % 8)) & 1 ? -plain : plain);
      }
    }
  };
  const std::int64_t whole = codes() / block;
  add_blocks(0, whole, block);
  if (codes() % block > 0) add_blocks(whole, whole + 1, codes() % block);
  std::vector<float> mean(sum.size());
  for (std::size_t k = 0; k < sum.size(); ++k)
    mean[k] = static_cast<float>(sum[k] / static_cast<double>(codes()));
  return mean;
}

Dictionary::Match Dictionary::nearest(const Code& query) const {
  CPL_CHECK(query.width() == width(), "dictionary: a query of width ", query.width(),
            " for codes of width ", width());
  // The kernel's logits of a +-1 row are exact integers: width - 2 * (Hamming distance).
  const simd::CodeView codes_view = view();
  const auto lanes = static_cast<std::size_t>(simd::lanes());
  std::vector<float> row(static_cast<std::size_t>(width()));
  for (std::int64_t k = 0; k < width(); ++k)
    row[static_cast<std::size_t>(k)] = static_cast<float>(query.sign(k));
  const auto packed = simd::aligned_floats(static_cast<std::size_t>(view_.packed_width()) * lanes);
  simd::pack_rows(row.data(), 1, width(), view_.packed_width(), 1.0f, packed.get());
  std::vector<std::int32_t> best(lanes);
  std::vector<float> logit(lanes);
  simd::nearest_codes(codes_view, packed.get(), 0, codes_view.tiles(), best.data(), logit.data());
  return {best[0], static_cast<double>(logit[0]) / static_cast<double>(width())};
}

}  // namespace cpl
