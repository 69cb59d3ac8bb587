// The head's first pass without exponentials, for bounded logits and orders 64 to 512.
//
// A logit is a signed sum of the row's d numbers x_k, so its power of two is a product of powers of
// partial sums: a few exponentials per row, and then a Walsh-Hadamard transform with products in
// place of sums yields 2^s for every code. A value travels as a pair, itself and its inverse:
// (a, b) -> (a b, a / b) takes multiplications only.
//
// The first two levels of the transform combine the quadruples x_k, x_{k+d/4}, x_{k+d/2},
// x_{k+3d/4}. With the signs of a tile there are only 16 ways to do that, so they are looked up in
// a table that is made once for all tiles. What is left falls into four transforms, one for each
// quarter of the tile's codes, of a few kilobytes each. The adjoint has the same trick at its end:
// a value is added to the bucket of its quadruple's signs, and what the buckets add to each
// dimension is worked out after the last tile.
//
// Errors: a product has d / 2 roundings, which in ordinary rows average out. In a row that sits on
// its code all factors are equal, and so are their errors: 2^s of that code is then good to d / 2
// half units only, 8e-6 at d = 512 in the worst case.
//
// Included once per instruction set (Highway's idiom), hence the odd guard.

#if defined(CPLEARN_SIMD_PRODUCT_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CPLEARN_SIMD_PRODUCT_SUMS_INL_H_
#undef CPLEARN_SIMD_PRODUCT_SUMS_INL_H_
#else
#define CPLEARN_SIMD_PRODUCT_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "cplearn/simd/head_kernel.h"
#include "cplearn/simd/transform-inl.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

// 2^x for |x| <= 126. These are multiplied with each other, so an error must not lean to one side:
// the last step, 1 + y * (...), rounds correctly almost always.
HWY_INLINE V exp2_factor(V x) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(x, magic);
  const V y = hn::Sub(x, hn::Sub(shifted, magic));
  // Taylor's series of 2^y, |y| <= 0.5: the first term left out is under 6e-9.
  constexpr float kTerms[] = {1.5252734e-5f, 1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f,
                              5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f, 1.0f};
  V p = hn::Set(d, kTerms[0]);
  for (size_t i = 1; i < std::size(kTerms); ++i) p = hn::MulAdd(p, y, hn::Set(d, kTerms[i]));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

// 2^x and 2^-x.
struct Powers {
  V up, down;
};

// x, y -> x + y, x - y in the exponents.
HWY_INLINE void butterfly(Powers& a, Powers& b) {
  const Powers x = a, y = b;
  a = {hn::Mul(x.up, y.up), hn::Mul(x.down, y.down)};
  b = {hn::Mul(x.up, y.down), hn::Mul(x.down, y.up)};
}

// Where the quadruple with these signs stands in its table (bit i set: x_{k + i d/4} counts
// negatively). Inverses are neighbours, which share a cache line, and the map is linear over bits:
// flipping signs flips bits of the place.
constexpr uint32_t place_of(uint32_t signs) {
  return ((signs & 7) ^ (signs & 8 ? 7 : 0)) << 1 | signs >> 3;
}

// The order is a constant because address arithmetic is a large part of what is left to do.
template <int kOrder>
class ProductSums {
 public:
  explicit ProductSums(const CodeView& view)
      : view_(view),
        bits_(kOrder / 8 + sizeof(uint32_t), 0),
        places_(allocate<uint32_t>(kQuarter)),
        buckets_(allocate<uint32_t>(kQuarter)),
        signs_(allocate<float>(kQuarter)),
        table_(allocate<float>(16 * kQuarter * kLanes)),
        sums_(allocate<float>(8 * kQuarter * kLanes)),
        work_(allocate<float>(2 * kQuarter * kLanes)) {}

  // As row_sums() of head_kernel.h, with 0 for the maximum, for tiles of which all codes exist.
  void run(const float* group, int64_t tile_begin, int64_t tile_end, double* sum, float* expected) {
    tabulate(group);
    if (expected) std::fill(sums_.get(), sums_.get() + 8 * kQuarter * kLanes, 0.0f);
    std::fill(sum, sum + kLanes, 0.0);
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      select(tile);
      V total = hn::Zero(D());
      add_quarter<0>(expected != nullptr, total);
      add_quarter<1>(expected != nullptr, total);
      add_quarter<2>(expected != nullptr, total);
      add_quarter<3>(expected != nullptr, total);
      add_to(sum, total);
    }
    if (expected) empty_buckets(expected);
  }

 private:
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static constexpr int kQuarter = kOrder / 4;
  static constexpr int R = 8;  // codes of a chunk
  static_assert(kQuarter % R == 0 && kQuarter % kLanes == 0);
  // What each quarter of the codes flips in the signs of every quadruple: the Walsh-Hadamard matrix
  // of order 4.
  static constexpr uint32_t kFlips[4] = {place_of(0b0000), place_of(0b1010), place_of(0b1100),
                                         place_of(0b0110)};

  // table_[k][place_of(signs)] = 2^(+-x_k +-x_{k+d/4} +-x_{k+d/2} +-x_{k+3d/4}).
  void tabulate(const float* HWY_RESTRICT group) {
    const D d;
    for (int k = 0; k < kQuarter; ++k) {
      V x[4];
      for (int i = 0; i < 4; ++i) x[i] = hn::Load(d, group + (k + i * kQuarter) * kLanes);
      float* HWY_RESTRICT entries = table_.get() + 16 * k * kLanes;
      for (uint32_t signs = 0; signs < 16; ++signs) {
        V sum = hn::Zero(d);
        for (int i = 0; i < 4; ++i) sum = signs >> i & 1 ? hn::Sub(sum, x[i]) : hn::Add(sum, x[i]);
        hn::Store(exp2_factor(sum), d, entries + place_of(signs) * kLanes);
      }
    }
  }

  // The tile's signs as places in the tables. Of two opposite buckets only one is kept: the other
  // would enter every dimension with the opposite sign.
  void select(int64_t tile) {
    std::memcpy(bits_.data(), view_.bits + tile * view_.row_bytes(),
                static_cast<size_t>(view_.row_bytes()));
    const hn::Rebind<uint32_t, D> du;
    const auto seven = hn::Set(du, 7);
    const auto lanes = hn::Set(du, static_cast<uint32_t>(kLanes));
    for (int k = 0; k < kQuarter; k += kLanes) {
      const auto sign = [&](int i) HWY_ATTR { return bits_at(bits_.data(), k + i * kQuarter); };
      const auto last = sign(3);  // place_of(), for as many k as there are lanes
      const auto low = hn::Or(sign(0), hn::ShiftLeft<1>(sign(1)));
      const auto bucket = hn::Xor(hn::Or(low, hn::ShiftLeft<2>(sign(2))), hn::Mul(last, seven));
      const auto place = hn::Or(hn::ShiftLeft<1>(bucket), last);
      hn::Store(hn::Mul(place, lanes), du, places_.get() + k);
      hn::Store(hn::Mul(bucket, lanes), du, buckets_.get() + k);
      const V minus = hn::BitCast(D(), hn::ShiftLeft<31>(last));
      hn::Store(hn::Or(hn::Set(D(), 1.0f), minus), D(), signs_.get() + k);
    }
  }

  // total += the sum over the codes of a quarter.
  template <int kPart>
  HWY_INLINE void add_quarter(bool expected, V& total) {
    look_up<kPart>();
    for (int j = 0; j < kQuarter; j += R) {
      V x[R];
      powers(j, x);
      butterflies<R>(x);
      total = hn::Add(total, x[0]);  // the first row of the matrix is all ones
      store<R>(x, work_.get() + j * kLanes);
    }
    if (expected) gather<kPart, R>();
  }

  // ---- Powers: from quadruples to chunks, in pairs ----------------------------------------------

  Powers load_powers(int64_t k) const {
    const float* at = work_.get() + 2 * k * kLanes;
    return {hn::Load(D(), at), hn::Load(D(), at + kLanes)};
  }
  void store_powers(const Powers& x, int64_t k) {
    float* at = work_.get() + 2 * k * kLanes;
    hn::Store(x.up, D(), at);
    hn::Store(x.down, D(), at + kLanes);
  }

  template <int kPart>
  HWY_INLINE void look_up() {
    constexpr int kRadix = kQuarter == R ? 1 : is_power_of_four(kQuarter / R) ? 4 : 2;
    const float* HWY_RESTRICT table = table_.get();
    const uint32_t* HWY_RESTRICT places = places_.get();
    product_pass<kRadix, kQuarter / kRadix>([=](int64_t k) HWY_ATTR {
      const float* entries = table + 16 * k * kLanes;
      const uint32_t place = places[k] ^ (kFlips[kPart] * kLanes);
      return Powers{hn::Load(D(), entries + place), hn::Load(D(), entries + (place ^ kLanes))};
    });
    narrow<kQuarter / kRadix>();
  }

  static constexpr bool is_power_of_four(int n) {
    return n == 1 || (n > 3 && is_power_of_four(n / 4));
  }

  // The levels under kStride, down to the chunks.
  template <int kStride>
  HWY_INLINE void narrow() {
    if constexpr (kStride > R) {
      product_pass<4, kStride / 4>([this](int64_t k) HWY_ATTR { return load_powers(k); });
      narrow<kStride / 4>();
    }
  }

  template <int kRadix, int kStride, class In>
  HWY_INLINE void product_pass(In in) {
    radix_pass<kRadix>(kQuarter, kStride, in,
                       [this](int64_t k, const Powers& x) HWY_ATTR { store_powers(x, k); });
  }

  // The last three levels, in registers: e = 2^s of the chunk at j. The compiler drops the inverses
  // that nothing needs.
  HWY_INLINE void powers(int j, V (&e)[R]) const {
    Powers low[4], high[4];
    for (int i = 0; i < 4; ++i) low[i] = load_powers(j + i);
    for (int i = 0; i < 4; ++i) high[i] = load_powers(j + 4 + i);
    butterflies<4>(low);
    butterflies<4>(high);
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) {
      e[i] = hn::Mul(low[i].up, high[i].up);
      e[4 + i] = hn::Mul(low[i].up, high[i].down);
    }
  }

  // ---- Expected codes: from chunks to buckets ---------------------------------------------------

  template <int kPart, int kStride>
  HWY_INLINE void gather() {
    constexpr int kLeft = kQuarter / kStride;
    const D d;
    float* work = work_.get();
    const auto read = [=](int64_t k) HWY_ATTR { return hn::Load(d, work + k * kLanes); };
    if constexpr (kLeft > 8) {
      constexpr int kRadix = kLeft == 16 ? 4 : 8;
      radix_pass<kRadix>(kQuarter, kStride, read,
                         [=](int64_t k, V v) HWY_ATTR { hn::Store(v, d, work + k * kLanes); });
      gather<kPart, kStride * kRadix>();
    } else {
      float* HWY_RESTRICT sums = sums_.get();
      const uint32_t* HWY_RESTRICT buckets = buckets_.get();
      const float* HWY_RESTRICT signs = signs_.get();
      radix_pass<kLeft>(kQuarter, kStride, read, [=](int64_t k, V v) HWY_ATTR {
        float* at = sums + 8 * k * kLanes + (buckets[k] ^ (kFlips[kPart] / 2 * kLanes));
        const V sum = hn::Load(d, at), sign = hn::Set(d, signs[k]);
        constexpr bool kMinus = kFlips[kPart] % 2 != 0;
        hn::Store(kMinus ? hn::NegMulAdd(v, sign, sum) : hn::MulAdd(v, sign, sum), d, at);
      });
    }
  }

  void empty_buckets(float* HWY_RESTRICT expected) const {
    const D d;
    for (int k = 0; k < kQuarter; ++k) {
      V sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      for (uint32_t signs = 0; signs < 8; ++signs) {  // those that are kept count x_{k+3d/4} as is
        const V v = hn::Load(d, sums_.get() + (8 * k + static_cast<int>(signs)) * kLanes);
        for (int i = 0; i < 4; ++i)
          sum[i] = signs >> i & 1 ? hn::Sub(sum[i], v) : hn::Add(sum[i], v);
      }
      for (int i = 0; i < 4; ++i) hn::Store(sum[i], d, expected + (k + i * kQuarter) * kLanes);
    }
  }

  const CodeView& view_;
  std::vector<uint8_t> bits_;  // those of the tile, with room to read whole words
  hwy::AlignedFreeUniquePtr<uint32_t[]> places_, buckets_;  // [quarter] in floats
  Buffer signs_;                                            // [quarter] of the bucket: 1 or -1
  Buffer table_;                                            // [quarter][16][lanes]
  Buffer sums_;                                             // [quarter][8][lanes]
  Buffer work_;  // [quarter][2][lanes] powers and their inverses, then [quarter][lanes]
};

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
