// Small things that the kernels on floats share: memory, powers of two, sums, chunks in registers.
// Included once per instruction set (Highway's idiom), hence the odd guard.

#if defined(CPLEARN_SIMD_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CPLEARN_SIMD_VECTORS_INL_H_
#undef CPLEARN_SIMD_VECTORS_INL_H_
#else
#define CPLEARN_SIMD_VECTORS_INL_H_
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <new>

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Buffer = hwy::AlignedFreeUniquePtr<float[]>;

// AllocateAligned returns null where it should throw.
template <class T, class Count>
hwy::AlignedFreeUniquePtr<T[]> allocate(Count count) {
  auto memory = hwy::AllocateAligned<T>(static_cast<size_t>(count));
  if (!memory) throw std::bad_alloc();
  return memory;
}

// x[i] = 2^x[i] for -126 <= x <= 127; with `kClamp`, also 2^-126 where x is below. Relative error
// under 2e-7: a degree-5 minimax polynomial on [-0.5, 0.5]; adding 1.5 * 2^23 rounds to the nearest
// integer and leaves it in the low bits. Four at a time, step by step: one alone is a chain of
// dependent operations that leaves the processor waiting.
template <bool kClamp, int N>
HWY_INLINE void exp2(V (&x)[N]) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  constexpr int kSide = std::min(N, 4);
  static_assert(N % kSide == 0);
  const V magic = hn::Set(d, 12582912.0f);
  HWY_UNROLL(2)
  for (int first = 0; first < N; first += kSide) {
    V shifted[kSide], p[kSide];
    V* HWY_RESTRICT y = x + first;
    if (kClamp) {
      for (int i = 0; i < kSide; ++i) y[i] = hn::Max(y[i], hn::Set(d, -126.0f));
    }
    const auto multiply_add = [&p, y, d](float term) HWY_ATTR {
      for (int i = 0; i < kSide; ++i) p[i] = hn::MulAdd(p[i], y[i], hn::Set(d, term));
    };
    for (int i = 0; i < kSide; ++i) shifted[i] = hn::Add(y[i], magic);
    for (int i = 0; i < kSide; ++i) y[i] = hn::Sub(y[i], hn::Sub(shifted[i], magic));
    for (int i = 0; i < kSide; ++i) p[i] = hn::Set(d, 0.0013276472f);
    multiply_add(0.0096755415f);
    multiply_add(0.055507133f);
    multiply_add(0.2402212f);
    multiply_add(0.69314697f);
    multiply_add(1.0000001f);
    for (int i = 0; i < kSide; ++i) {
      const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted[i]));
      y[i] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[i]), exponent));
    }
  }
}
template <bool kClamp>
HWY_INLINE V exp2(V x) {
  V one[1] = {x};
  exp2<kClamp>(one);
  return one[0];
}

// sums[lane] += v[lane], in double.
HWY_INLINE void add_to(double* sums, V v) {
  const D d;
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(v, d, values);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) sums[lane] += values[lane];
}

HWY_INLINE int64_t lane_count() { return static_cast<int64_t>(hn::Lanes(D())); }

// y[i] = the sum of the lanes of x[i], for as many vectors as there are lanes.
template <int kLanes>
HWY_INLINE V lane_sums(const V (&x)[kLanes]) {
  HWY_ALIGN float sums[kLanes];
  for (int i = 0; i < kLanes; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(D(), x[i]));
  return hn::Load(D(), sums);
}

#if HWY_TARGET != HWY_SCALAR
// In each block of four lanes: the sums of x[0] to x[3] over that block.
HWY_INLINE V block_sums(const V* x) {
  const D d;
  const hn::RepartitionToWide<D> pairs;
  const V low = hn::Add(hn::InterleaveLower(d, x[0], x[1]), hn::InterleaveUpper(d, x[0], x[1]));
  const V high = hn::Add(hn::InterleaveLower(d, x[2], x[3]), hn::InterleaveUpper(d, x[2], x[3]));
  const auto wide_low = hn::BitCast(pairs, low), wide_high = hn::BitCast(pairs, high);
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, wide_low, wide_high)),
                 hn::BitCast(d, hn::InterleaveUpper(pairs, wide_low, wide_high)));
}
template <>
HWY_INLINE V lane_sums<4>(const V (&x)[4]) {
  return block_sums(x);
}
template <>
HWY_INLINE V lane_sums<8>(const V (&x)[8]) {
  const V low = block_sums(x), high = block_sums(x + 4);
  return hn::Add(hn::ConcatLowerLower(D(), high, low), hn::ConcatUpperUpper(D(), high, low));
}
#endif

// x[r] = the values of the chunk at `from`.
template <int R>
HWY_INLINE void load(const float* HWY_RESTRICT from, V (&x)[R]) {
  const D d;
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) x[r] = hn::Load(d, from + r * static_cast<int>(hn::MaxLanes(D())));
}
template <int R>
HWY_INLINE void store(const V (&x)[R], float* HWY_RESTRICT to) {
  const D d;
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) hn::Store(x[r], d, to + r * static_cast<int>(hn::MaxLanes(D())));
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
