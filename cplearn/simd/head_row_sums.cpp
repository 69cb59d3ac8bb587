// Sums of exponentials of a row, and its expected code. Compiled once per instruction set by
// Highway; design notes are in head_kernel.h.

#include <algorithm>
#include <cmath>

#include "cplearn/simd/head_passes.h"
#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/head_row_sums.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/transform-inl.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

template <class Codes, class Chunk>
void RowSumsOf(const CodeView& view, const float* group, int64_t tile_begin, int64_t tile_end,
               bool bounded, float* max, double* sum, float* expected) {
  constexpr int R = Chunk::kCodes;
  const D d;
  const int64_t lanes = lane_count();
  const int64_t packed_size = view.packed_width() * lanes;
  Codes codes(view);
  Buffer buffer = allocate<float>(view.tile * lanes), room = allocate<float>(packed_size);
  float* HWY_RESTRICT work = buffer.get();
  const float* rows = codes.prepare(group, room.get());
  V top = hn::Set(d, bounded ? 0.0f : -1e30f);
  std::fill(sum, sum + lanes, 0.0);
  if (expected) std::fill(expected, expected + packed_size, 0.0f);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    codes.select(tile);
    codes.spread(rows, work);
    const int64_t valid = std::min(view.tile, view.codes - tile * view.tile);
    const int64_t whole = valid / R * R;  // codes in chunks that are full
    V total = hn::Zero(d);
    V x[R];
    if (bounded) {
      for (int64_t j = 0; j < whole; j += R) {
        load<R>(work + j * lanes, x);
        Chunk::transform(x);
        exp2<false>(x);
        Chunk::transform(x);
        total = hn::Add(total, Chunk::sum(x));
        store<R>(x, work + j * lanes);
      }
    } else {
      const V old_top = top;
      for (int64_t j = 0; j < valid; j += R) {
        load<R>(work + j * lanes, x);
        Chunk::transform(x);
        for (int r = 0; r < R && j + r < valid; ++r) top = hn::Max(top, x[r]);
        store<R>(x, work + j * lanes);
      }
      if (!hn::AllTrue(d, hn::Eq(old_top, top))) {
        const V shrink = exp2<true>(hn::Sub(old_top, top));
        HWY_ALIGN float factor[hn::MaxLanes(D())];
        hn::Store(shrink, d, factor);
        for (int64_t lane = 0; lane < lanes; ++lane) sum[lane] *= static_cast<double>(factor[lane]);
        for (int64_t i = 0; expected && i < packed_size; i += lanes)
          hn::Store(hn::Mul(hn::Load(d, expected + i), shrink), d, expected + i);
      }
      for (int64_t j = 0; j < whole; j += R) {
        load<R>(work + j * lanes, x);
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) x[r] = hn::Sub(x[r], top);
        exp2<true>(x);
        Chunk::transform(x);
        total = hn::Add(total, Chunk::sum(x));
        store<R>(x, work + j * lanes);
      }
    }
    if (whole < valid) {  // a chunk of which some codes do not exist
      load<R>(work + whole * lanes, x);
      if (bounded) Chunk::transform(x);
      for (int r = 0; r < R; ++r)
        x[r] = whole + r < valid ? exp2<true>(hn::Sub(x[r], top)) : hn::Zero(d);
      Chunk::transform(x);
      total = hn::Add(total, Chunk::sum(x));
      store<R>(x, work + whole * lanes);
    }
    std::fill(work + (valid + R - 1) / R * R * lanes, work + view.tile * lanes, 0.0f);
    add_to(sum, total);
    if (expected) codes.gather(work, expected);
  }
  if (expected) codes.finish(expected);
  hn::StoreU(top, d, max);
}

void RowSums(const CodeView& view, const float* group, int64_t begin, int64_t end, bool bounded,
             float* max, double* sum, float* expected) {
  CPL_BY_KIND(view, RowSumsOf, view, group, begin, end, bounded, max, sum, expected);
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(RowSums);

void exponential_row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
                          std::int64_t tile_end, bool bounded, float* max, double* sum,
                          float* expected) {
  HWY_DYNAMIC_DISPATCH(RowSums)(codes, group, tile_begin, tile_end, bounded, max, sum, expected);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
