// Logits of one tile of codes, and the adjoint, for one group of rows (one row per lane).
//
// Codes of a tile come in chunks of neighbours, and a transform is split in two: `spread`, which
// mixes chunks, and Chunk::transform, which works within one, in registers. What a loss does with
// logits (exponentials, sums, weights) thus sits between the second half of the transform and the
// first half of the adjoint, without a trip to memory:
//
//   rows = codes.prepare(h, room);
//   for each tile:
//     codes.select(tile); codes.spread(rows, work);
//     for each chunk: load, Chunk::transform -> logits; ...; Chunk::transform, store
//     codes.gather(work, sum);
//   codes.finish(sum);
//
// Two classes with these members: HadamardTiles and RademacherTiles (whose chunks are plain).
// Included once per instruction set (Highway's idiom), hence the odd guard.

#if defined(CPLEARN_SIMD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CPLEARN_SIMD_TRANSFORM_INL_H_
#undef CPLEARN_SIMD_TRANSFORM_INL_H_
#else
#define CPLEARN_SIMD_TRANSFORM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cplearn/simd/head_kernel.h"
#include "cplearn/simd/paley.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

// ---- Walsh-Hadamard transforms ---------------------------------------------------------------

// a, b -> a + b, a - b. Another type of number may bring its own.
HWY_INLINE void butterfly(V& a, V& b) {
  const V sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

// In place: x <- Had_R x, R a power of two.
template <int R, class T>
HWY_INLINE void butterflies(T (&x)[R]) {
  HWY_UNROLL(4)
  for (int half = 1; half < R; half *= 2) {
    HWY_UNROLL(16)
    for (int i = 0; i < R; ++i) {
      if (!(i & half)) butterfly(x[i], x[i + half]);
    }
  }
}

// One pass of radix R: every set of R elements `stride` apart is transformed.
template <int R, class In, class Out>
HWY_INLINE void radix_pass(int64_t size, int64_t stride, In in, Out out) {
  for (int64_t start = 0; start < size; start += R * stride) {
    for (int64_t first = start; first < start + stride; ++first) {
      decltype(in(0)) x[R];
      HWY_UNROLL(16)
      for (int r = 0; r < R; ++r) x[r] = in(first + r * stride);
      butterflies<R>(x);
      HWY_UNROLL(16)
      for (int r = 0; r < R; ++r) out(first + r * stride, x[r]);
    }
  }
}

// Across `stride`: y_i = sum_j sign_ij x_j with the signs of the Paley matrix or its transpose.
template <int Base, bool kTransposed, class In, class Out>
HWY_INLINE void paley_pass(int64_t stride, In in, Out out) {
  for (int64_t t = 0; t < stride; ++t) {
    V x[Base], y[Base];
    for (int i = 0; i < Base; ++i) x[i] = in(t + i * stride);
    HWY_UNROLL(20)
    for (int i = 0; i < Base; ++i) {
      V sum = x[0];  // row 0 and column 0 of the matrix are positive
      HWY_UNROLL(20)
      for (int j = 1; j < Base; ++j) {
        const bool negative =
            kTransposed ? kPaley<Base>.negative[j][i] : kPaley<Base>.negative[i][j];
        sum = negative ? hn::Sub(sum, x[j]) : hn::Add(sum, x[j]);
      }
      y[i] = sum;
    }
    for (int i = 0; i < Base; ++i) out(t + i * stride, y[i]);
  }
}

// R neighbouring codes. With `kTransform` their logits still need a Walsh-Hadamard transform.
template <int R, bool kTransform>
struct Chunk {
  static constexpr int kCodes = R;

  static HWY_INLINE void transform(V (&x)[R]) {
    if constexpr (kTransform) butterflies<R>(x);
  }
  // The sum of the values that were transformed into y: the first row of the matrix is all ones.
  static HWY_INLINE V sum(const V (&y)[R]) {
    if constexpr (kTransform) return y[0];
    V total = y[0];
    for (int r = 1; r < R; ++r) total = hn::Add(total, y[r]);
    return total;
  }
};

// log2 of the power of two in base * 2^k.
HWY_INLINE int hadamard_bits(int base, int64_t order) {
  int bits = 0;
  while ((int64_t{base} << bits) < order) ++bits;
  return bits;
}

// Levels of the transform that are left to the chunks. Three: more would not fit into 16 registers.
HWY_INLINE int chunk_levels(int base, int64_t order) {
  return hadamard_bits(base, order) >= 3 ? 3 : 0;
}

// A level that all tiles share, as the distance of the numbers that it pairs; 0 if there is none.
// It is the widest one between the chunks, where that saves a pass. With a tile's signs it turns a,
// b into s (a +- b) and s (a -+ b), and a + b and a - b are the same for all tiles: rows hold those
// instead (prepare), and a tile only says which of the two comes first, and s. The adjoint undoes
// it once at the end (finish).
HWY_INLINE int64_t paired_distance(int base, int64_t order) {
  const int bits = hadamard_bits(base, order);
  const bool saves_a_pass = (bits - chunk_levels(base, order)) % 3 == 1;
  const int64_t distance = saves_a_pass ? int64_t{1} << (bits - 1) : 0;
  return distance >= static_cast<int64_t>(hn::Lanes(D())) ? distance : 0;
}

// The other levels of y = M x that mix chunks, for M = Paley_base (x) Had_{2^bits} or its
// transpose, in passes of at most three levels. The factors of M act on different digits of the
// index, so that passes may come in any order: from wide strides to narrow ones, or back for the
// adjoint, which starts where the logits are. `in` reads x, `out` takes y, `work` holds what lies
// between.
template <bool kAdjoint>
class HadamardPlan {
 public:
  HadamardPlan(int base, int64_t order) : base_(base), order_(order) {
    int bits = hadamard_bits(base, order);
    const int chunk = chunk_levels(base, order);
    if (base > 1) passes_[count_++] = {kPaleyPass, int64_t{1} << bits};
    if (paired_distance(base, order) > 0) --bits;
    while (bits > chunk) {
      const int left = bits - chunk;
      const int levels = std::min(left, 3);
      bits -= levels;
      passes_[count_++] = {levels, int64_t{1} << bits};
    }
    if (count_ == 0) passes_[count_++] = {0, 1};
    if (kAdjoint) std::reverse(passes_, passes_ + count_);
  }

  template <class In, class Out>
  HWY_INLINE void run(In in, float* HWY_RESTRICT work, Out out) const {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto read = [=](int64_t k) HWY_ATTR { return hn::Load(d, work + k * lanes); };
    const auto write = [=](int64_t k, V v) HWY_ATTR { hn::Store(v, d, work + k * lanes); };
    if (count_ == 1) return pass(passes_[0], in, out);
    pass(passes_[0], in, write);
    for (int i = 1; i + 1 < count_; ++i) pass(passes_[i], read, write);
    pass(passes_[count_ - 1], read, out);
  }

 private:
  static constexpr int kPaleyPass = -1;
  struct Pass {
    int levels;
    int64_t stride;
  };

  template <class In, class Out>
  HWY_INLINE void pass(const Pass& step, In in, Out out) const {
    switch (step.levels) {
      case 0:
        return radix_pass<1>(order_, step.stride, in, out);
      case 1:
        return radix_pass<2>(order_, step.stride, in, out);
      case 2:
        return radix_pass<4>(order_, step.stride, in, out);
      case 3:
        if (step.stride == 8) return radix_pass<8>(order_, 8, in, out);  // a constant is faster
        return radix_pass<8>(order_, step.stride, in, out);
      default:
        break;
    }
    // The logits are M' h.
    if (base_ == 12) return paley_pass<12, !kAdjoint>(step.stride, in, out);
    return paley_pass<20, !kAdjoint>(step.stride, in, out);
  }

  int base_;
  int64_t order_;
  Pass passes_[24];
  int count_ = 0;
};

// Bits [at, at + lanes) of `bits`, one per lane. Reads a whole word from at / 8 on.
HWY_INLINE auto bits_at(const uint8_t* bits, int64_t at) {
  const hn::Rebind<uint32_t, D> du;
  uint32_t word;
  std::memcpy(&word, bits + at / 8, sizeof word);
  return hn::And(hn::Shr(hn::Set(du, word >> (at % 8)), hn::Iota(du, 0)), hn::Set(du, 1));
}

HWY_INLINE V flip(V v, uint32_t sign) {
  const D d;
  const hn::Rebind<uint32_t, D> du;
  return hn::Xor(v, hn::BitCast(d, hn::Set(du, sign)));
}

// Codes of tile b: the columns of diag(signs_b) * M, cut to the first `width` rows.
class HadamardTiles {
 public:
  explicit HadamardTiles(const CodeView& view)
      : view_(view),
        distance_(paired_distance(view.base, view.tile)),
        forward_(view.base, view.tile),
        adjoint_(view.base, view.tile),
        bits_(static_cast<size_t>(view.tile / 8) + 8, 0),
        signs_(allocate<uint32_t>(static_cast<size_t>(view.tile) + hn::Lanes(D()))),
        places_(allocate<uint32_t>(static_cast<size_t>(view.tile) + hn::Lanes(D()))) {}

  // What spread() wants of a group of packed rows: in `room`, or the group itself.
  const float* prepare(const float* group, float* room) const {
    if (distance_ == 0) return group;
    std::copy(group, group + view_.tile * kLanes, room);
    finish(room);
    return room;
  }

  void select(int64_t tile) {
    std::memcpy(bits_.data(), view_.bits + tile * view_.row_bytes(),
                static_cast<size_t>(view_.row_bytes()));
    const hn::Rebind<uint32_t, D> du;
    for (int64_t k = 0; k < view_.tile; k += kLanes)
      hn::Store(hn::ShiftLeft<31>(bits_at(bits_.data(), k)), du, signs_.get() + k);
    // Of a pair: where the first one is found, where the second, and one sign for both.
    const auto apart = hn::Set(du, static_cast<uint32_t>(distance_ * kLanes));
    for (int64_t k = 0; distance_ > 0 && k < view_.tile; k += 2 * distance_) {
      for (int64_t i = k; i < k + distance_; i += kLanes) {
        const auto sign = hn::Load(du, signs_.get() + i);
        const auto differ = hn::Xor(sign, hn::Load(du, signs_.get() + i + distance_));
        const auto here = hn::Mul(hn::Iota(du, static_cast<uint32_t>(i)),
                                  hn::Set(du, static_cast<uint32_t>(kLanes)));
        const auto move = hn::Mul(hn::ShiftRight<31>(differ), apart);
        hn::Store(hn::Add(here, move), du, places_.get() + i);
        hn::Store(hn::Sub(hn::Add(here, apart), move), du, places_.get() + i + distance_);
        hn::Store(sign, du, signs_.get() + i + distance_);
      }
    }
  }

  // work = prepared rows with the tile's signs, transformed across chunks: what Chunk::transform
  // turns into the logits sum_k h_k sign_k M_kj.
  void spread(const float* HWY_RESTRICT rows, float* HWY_RESTRICT work) const {
    const uint32_t* HWY_RESTRICT places = places_.get();
    if (distance_ == 0) return spread(rows, work, [](int64_t k) { return k * kLanes; });
    spread(rows, work, [=](int64_t k) { return places[k]; });
  }

  // sum[k] += sign_k sum_j M_kj g_j, where `work` holds g after Chunk::transform. Overwrites it.
  // The sums are right after finish().
  void gather(float* HWY_RESTRICT work, float* HWY_RESTRICT sum) const {
    const uint32_t* HWY_RESTRICT places = places_.get();
    if (distance_ == 0) return gather(work, sum, [](int64_t k) { return k * kLanes; });
    gather(work, sum, [=](int64_t k) { return places[k]; });
  }

  void finish(float* HWY_RESTRICT sum) const {
    if (distance_ == 0) return;
    const D d;
    radix_pass<2>(
        view_.tile, distance_, [=](int64_t k) HWY_ATTR { return hn::Load(d, sum + k * kLanes); },
        [=](int64_t k, V v) HWY_ATTR { hn::Store(v, d, sum + k * kLanes); });
  }

 private:
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  // Functions of their own: side by side in one they are compiled to slower code.
  template <class Place>
  HWY_NOINLINE void spread(const float* HWY_RESTRICT rows, float* HWY_RESTRICT work,
                           Place place) const {
    const D d;
    const uint32_t* HWY_RESTRICT signs = signs_.get();
    forward_.run([=](int64_t k) HWY_ATTR { return flip(hn::Load(d, rows + place(k)), signs[k]); },
                 work, [=](int64_t k, V v) HWY_ATTR { hn::Store(v, d, work + k * kLanes); });
  }

  template <class Place>
  HWY_NOINLINE void gather(float* HWY_RESTRICT work, float* HWY_RESTRICT sum, Place place) const {
    const D d;
    const uint32_t* HWY_RESTRICT signs = signs_.get();
    adjoint_.run([=](int64_t j) HWY_ATTR { return hn::Load(d, work + j * kLanes); }, work,
                 [=](int64_t k, V v) HWY_ATTR {
                   float* at = sum + place(k);
                   hn::Store(hn::Add(hn::Load(d, at), flip(v, signs[k])), d, at);
                 });
  }

  const CodeView& view_;
  const int64_t distance_;
  HadamardPlan<false> forward_;
  HadamardPlan<true> adjoint_;
  std::vector<uint8_t> bits_;                    // those of the tile, with room to read whole words
  hwy::AlignedFreeUniquePtr<uint32_t[]> signs_;  // 0 or the sign bit: xor flips the sign
  hwy::AlignedFreeUniquePtr<uint32_t[]> places_;  // where number k is found, in floats
};

// ---- Independent signs -----------------------------------------------------------------------
//
// A product with signs needs no multiplications: for every four dimensions all 16 signed sums are
// tabulated (per row, that is per lane), and each code adds one table entry per four of its bits:
// a quarter of the additions, and the bits are never expanded. The adjoint is the same with codes
// and dimensions exchanged, hence the transposed copy of the tile's bits.

class RademacherTiles {
 public:
  explicit RademacherTiles(const CodeView& view)
      : view_(view),
        width_words_((view.width + 63) / 64),
        tile_words_(view.tile / 64),
        code_bits_(static_cast<size_t>(view.tile * width_words_)),
        dimension_bits_(static_cast<size_t>(width_words_ * 64 * tile_words_)),
        tables_(allocate<float>(kTable * hn::Lanes(D()))) {}

  void select(int64_t tile) {
    const int64_t first = tile * view_.tile;
    valid_ = std::min(view_.tile, view_.codes - first);
    std::fill(code_bits_.begin(), code_bits_.end(), 0);
    const int64_t row_bytes = view_.row_bytes();
    for (int64_t j = 0; j < valid_; ++j) {
      std::memcpy(&code_bits_[static_cast<size_t>(j * width_words_)],
                  view_.bits + (first + j) * row_bytes, static_cast<size_t>(row_bytes));
    }
    for (int64_t w = 0; w < width_words_; ++w) {
      for (int64_t t = 0; t < tile_words_; ++t) transpose_block(w, t);
    }
  }

  const float* prepare(const float* group, float*) const { return group; }
  void finish(float*) const {}

  // work[j] = the logit of code j.
  void spread(const float* HWY_RESTRICT h, float* HWY_RESTRICT work) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
    std::fill(work, work + view_.tile * lanes, 0.0f);
    for (int64_t w = 0; w < width_words_; ++w) {
      build_tables(h + w * 64 * lanes, view_.packed_width() - w * 64, tables_.get());
      add_entries(&code_bits_[static_cast<size_t>(w)], width_words_, valid_, work);
    }
  }

  // sum[k] += sum_j w_jk g_j, where `work` holds g.
  void gather(const float* HWY_RESTRICT work, float* HWY_RESTRICT sum) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
    for (int64_t t = 0; t < tile_words_ && t * 64 < valid_; ++t) {
      build_tables(work + t * 64 * lanes, 64, tables_.get());
      add_entries(&dimension_bits_[static_cast<size_t>(t)], tile_words_, view_.width, sum);
    }
  }

 private:
  static constexpr int64_t kTable = 16 * 16;  // 16 groups of four bits, 16 signed sums each

  // table[group][bits] = +-x_0 +-x_1 +-x_2 +-x_3, a set bit meaning minus; missing inputs are zero.
  static void build_tables(const float* HWY_RESTRICT x, int64_t count, float* HWY_RESTRICT table) {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t group = 0; group < 16; ++group) {
      V low[4], high[4];
      const auto load = [=](int64_t i) HWY_ATTR {
        return group * 4 + i < count ? hn::Load(d, x + (group * 4 + i) * lanes) : hn::Zero(d);
      };
      const V a = load(0), b = load(1), c = load(2), e = load(3);
      low[0] = hn::Add(a, b);
      low[1] = hn::Sub(b, a);
      low[2] = hn::Neg(low[1]);
      low[3] = hn::Neg(low[0]);
      high[0] = hn::Add(c, e);
      high[1] = hn::Sub(e, c);
      high[2] = hn::Neg(high[1]);
      high[3] = hn::Neg(high[0]);
      for (int bits = 0; bits < 16; ++bits)
        hn::Store(hn::Add(low[bits & 3], high[bits >> 2]), d, table + (group * 16 + bits) * lanes);
    }
  }

  // out[r] += sum over the 16 groups of the entry that the word bits[r * stride] selects.
  void add_entries(const uint64_t* HWY_RESTRICT bits, int64_t stride, int64_t count,
                   float* HWY_RESTRICT out) const {
    const D d;
    constexpr size_t kLanes = hn::MaxLanes(D());
    const float* HWY_RESTRICT table = tables_.get();
    for (int64_t r = 0; r < count; ++r) {
      const uint64_t word = bits[r * stride];
      V even = hn::Load(d, out + r * kLanes), odd = hn::Zero(d);
      HWY_UNROLL(8)
      for (int group = 0; group < 16; group += 2) {
        const float* entries = table + group * 16 * kLanes;
        even = hn::Add(even, hn::Load(d, entries + ((word >> (4 * group)) & 15) * kLanes));
        odd = hn::Add(odd, hn::Load(d, entries + (16 + ((word >> (4 * group + 4)) & 15)) * kLanes));
      }
      hn::Store(hn::Add(even, odd), d, out + r * kLanes);
    }
  }

  // dimension_bits_[64 w + k][t] bit j = code_bits_[64 t + j][w] bit k: a 64 x 64 transposition.
  void transpose_block(int64_t w, int64_t t) {
    uint64_t x[64];
    for (int64_t j = 0; j < 64; ++j)
      x[j] = code_bits_[static_cast<size_t>((t * 64 + j) * width_words_ + w)];
    uint64_t mask = 0x00000000FFFFFFFFull;
    for (int half = 32; half > 0; half /= 2, mask ^= mask << half) {
      for (int j = 0; j < 64; j = ((j | half) + 1) & ~half) {
        const uint64_t swap = ((x[j] >> half) ^ x[j | half]) & mask;
        x[j] ^= swap << half;
        x[j | half] ^= swap;
      }
    }
    for (int64_t k = 0; k < 64; ++k)
      dimension_bits_[static_cast<size_t>((w * 64 + k) * tile_words_ + t)] = x[k];
  }

  const CodeView& view_;
  const int64_t width_words_, tile_words_;
  int64_t valid_ = 0;
  std::vector<uint64_t> code_bits_;       // [tile][width_words_]
  std::vector<uint64_t> dimension_bits_;  // [width_words_ * 64][tile_words_]
  hwy::AlignedFreeUniquePtr<float[]> tables_;
};

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Calls function<Codes, Chunk>(...): the kind of dictionary and the size of its chunks are chosen
// outside every loop.
#define CPL_BY_KIND(view, function, ...)                            \
  if ((view).kind == CodeKind::kRademacher)                         \
    return function<RademacherTiles, Chunk<8, false>>(__VA_ARGS__); \
  if (chunk_levels((view).base, (view).tile) == 3)                  \
    return function<HadamardTiles, Chunk<8, true>>(__VA_ARGS__);    \
  return function<HadamardTiles, Chunk<1, true>>(__VA_ARGS__)

#endif  // per-target include guard
