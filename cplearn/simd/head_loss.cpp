// Loss and gradient over tiles of codes. Compiled once per instruction set by Highway; design notes
// are in head_kernel.h.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cplearn/simd/head_passes.h"
#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/head_loss.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/loss_pass-inl.h"
#include "cplearn/simd/transform-inl.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

template <class Codes, class Chunk>
void LossTilesOf(LossJob& job, int64_t tile_begin, int64_t tile_end) {
  LossPass<Codes, Chunk> pass(job);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) pass.run(tile);
}

void LossTiles(LossJob& job, int64_t begin, int64_t end) {
  CPL_BY_KIND(job.codes, LossTilesOf, job, begin, end);
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(LossTiles);

void loss_tiles(LossJob& job, std::int64_t tile_begin, std::int64_t tile_end) {
  HWY_DYNAMIC_DISPATCH(LossTiles)(job, tile_begin, tile_end);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
