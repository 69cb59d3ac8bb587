// The head's kernel. Compiled once per instruction set by Highway; design notes are in
// head_kernel.h. One source for all that transforms codes: the transforms take the compiler
// longest.

#include "cplearn/simd/head_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "cplearn/simd/head_product_sums.h"
#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/head_kernel.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/loss_pass-inl.h"
#include "cplearn/simd/transform-inl.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

int64_t Lanes() { return lane_count(); }

void PackRows(const float* h, int64_t rows, int64_t width, int64_t packed_width, float scale,
              float* packed) {
  const int64_t lanes = lane_count();
  const int64_t groups = (rows + lanes - 1) / lanes;
  for (int64_t g = 0; g < groups; ++g) {
    float* group = packed + g * packed_width * lanes;
    for (int64_t k = 0; k < packed_width; ++k) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t row = g * lanes + lane;
        const bool inside = row < rows && k < width;
        group[k * lanes + lane] = inside ? scale * h[row * width + k] : 0.0f;
      }
    }
  }
}

// Calls take(j, logits of code j) for the codes of a tile in order. `rows` are prepared, `work` has
// room for a tile.
template <class Chunk, class Codes, class Take>
HWY_INLINE void each_logit(Codes& codes, const CodeView& view, const float* rows, int64_t tile,
                           float* HWY_RESTRICT work, Take take) {
  constexpr int R = Chunk::kCodes;
  codes.select(tile);
  codes.spread(rows, work);
  for (int64_t j = 0; j < view.tile; j += R) {
    V x[R];
    load<R>(work + j * lane_count(), x);
    Chunk::transform(x);
    for (int r = 0; r < R; ++r) take(j + r, x[r]);
  }
}

template <class Codes, class Chunk>
void NearestCodesOf(const CodeView& view, const float* group, int64_t tile_begin, int64_t tile_end,
                    int32_t* code, float* logit) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  Codes codes(view);
  Buffer work = allocate<float>(view.tile * lane_count());
  Buffer room = allocate<float>(view.packed_width() * lane_count());
  const float* rows = codes.prepare(group, room.get());
  V best = hn::Set(d, -1e30f);
  auto index = hn::Zero(di);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t first = tile * view.tile;
    const auto take = [&best, &index, &view, first, di](int64_t j, V s) HWY_ATTR {
      if (first + j >= view.codes) return;
      const auto better = hn::Gt(s, best);
      best = hn::IfThenElse(better, s, best);
      const auto here = hn::Set(di, static_cast<int32_t>(first + j));
      index = hn::IfThenElse(hn::RebindMask(di, better), here, index);
    };
    each_logit<Chunk>(codes, view, rows, tile, work.get(), take);
  }
  hn::StoreU(best, d, logit);
  hn::StoreU(index, di, code);
}

template <class Codes, class Chunk>
void TileLogitsOf(const CodeView& view, const float* group, int64_t tile, float* logits) {
  const D d;
  const int64_t lanes = lane_count();
  Codes codes(view);
  Buffer work = allocate<float>(view.tile * lanes);
  Buffer room = allocate<float>(view.packed_width() * lanes);
  const float* rows = codes.prepare(group, room.get());
  each_logit<Chunk>(codes, view, rows, tile, work.get(),
                    [=](int64_t j, V s) HWY_ATTR { hn::StoreU(s, d, logits + j * lanes); });
}

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

template <class Codes, class Chunk>
void LossTilesOf(LossJob& job, int64_t tile_begin, int64_t tile_end) {
  LossPass<Codes, Chunk> pass(job);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) pass.run(tile);
}

void RowSums(const CodeView& view, const float* group, int64_t begin, int64_t end, bool bounded,
             float* max, double* sum, float* expected) {
  CPL_BY_KIND(view, RowSumsOf, view, group, begin, end, bounded, max, sum, expected);
}

void LossTiles(LossJob& job, int64_t begin, int64_t end) {
  CPL_BY_KIND(job.codes, LossTilesOf, job, begin, end);
}

void NearestCodes(const CodeView& view, const float* group, int64_t begin, int64_t end,
                  int32_t* code, float* logit) {
  CPL_BY_KIND(view, NearestCodesOf, view, group, begin, end, code, logit);
}

void TileLogits(const CodeView& view, const float* group, int64_t tile, float* logits) {
  CPL_BY_KIND(view, TileLogitsOf, view, group, tile, logits);
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(Lanes);
HWY_EXPORT(PackRows);
HWY_EXPORT(RowSums);
HWY_EXPORT(LossTiles);
HWY_EXPORT(NearestCodes);
HWY_EXPORT(TileLogits);

namespace {

// Whether product sums can do it, and enough tiles to make up for their tables.
bool suits_tables(const CodeView& view, std::int64_t tiles) {
  return view.kind == CodeKind::kHadamard && view.base == 1 && view.tile >= 64 &&
         view.tile <= 512 && tiles >= 8;
}

}  // namespace

AlignedFloats aligned_floats(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, std::max<std::size_t>(bytes, 64));
  if (!memory) throw std::bad_alloc();
  return AlignedFloats(static_cast<float*>(memory));
}

std::int64_t lanes() { return HWY_DYNAMIC_DISPATCH(Lanes)(); }

void pack_rows(const float* h, std::int64_t rows, std::int64_t width, std::int64_t packed_width,
               float scale, float* packed) {
  HWY_DYNAMIC_DISPATCH(PackRows)(h, rows, width, packed_width, scale, packed);
}

void row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
              std::int64_t tile_end, bool bounded, float* max, double* sum, float* expected) {
  const auto exponential = HWY_DYNAMIC_DISPATCH(RowSums);
  const std::int64_t whole = std::min(tile_end, codes.codes / codes.tile);  // tiles without a gap
  if (!bounded || !suits_tables(codes, whole - tile_begin))
    return exponential(codes, group, tile_begin, tile_end, bounded, max, sum, expected);
  product_row_sums(codes, group, tile_begin, whole, sum, expected);
  const std::int64_t lanes_here = lanes();
  std::fill(max, max + lanes_here, 0.0f);
  if (whole == tile_end) return;
  const std::int64_t size = expected ? codes.packed_width() * lanes_here : 0;
  const AlignedFloats rest = aligned_floats(static_cast<std::size_t>(size));
  std::vector<double> rest_sum(static_cast<std::size_t>(lanes_here));
  exponential(codes, group, whole, tile_end, true, max, rest_sum.data(),
              expected ? rest.get() : nullptr);
  for (std::int64_t lane = 0; lane < lanes_here; ++lane)
    sum[lane] += rest_sum[static_cast<std::size_t>(lane)];
  for (std::int64_t i = 0; i < size; ++i) expected[i] += rest[static_cast<std::size_t>(i)];
}

void loss_tiles(LossJob& job, std::int64_t tile_begin, std::int64_t tile_end) {
  HWY_DYNAMIC_DISPATCH(LossTiles)(job, tile_begin, tile_end);
}

void nearest_codes(const CodeView& codes, const float* group, std::int64_t tile_begin,
                   std::int64_t tile_end, std::int32_t* code, float* logit) {
  HWY_DYNAMIC_DISPATCH(NearestCodes)(codes, group, tile_begin, tile_end, code, logit);
}

void tile_logits(const CodeView& codes, const float* group, std::int64_t tile, float* logits) {
  HWY_DYNAMIC_DISPATCH(TileLogits)(codes, group, tile, logits);
}

double operations_per_logit(const CodeView& codes, bool bounded) {
  const double exponential = 11, loss_and_gradient = 4;
  if (codes.kind == CodeKind::kRademacher)  // four sums of width / 4
    return static_cast<double>(codes.width) + 2 * exponential + loss_and_gradient;
  const double levels = std::log2(static_cast<double>(codes.tile) / codes.base);
  const double transform = levels + codes.base - 1;  // a Paley factor takes base - 1
  // With tables two levels are looked up; the others take two products, the last three 4.25.
  const double first_pass = bounded && suits_tables(codes, codes.tiles())
                                ? 2 * (levels - 5) + 4.25 + (levels - 2) + 1
                                : 2 * transform + exponential + 1;
  return first_pass + 2 * transform + exponential + loss_and_gradient;
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
