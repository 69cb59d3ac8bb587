// The same sums by products in place of exponentials. Compiled once per instruction set by Highway;
// design notes are in head_kernel.h.

#include <algorithm>
#include <cmath>

#include "cplearn/simd/head_product_sums.h"
#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/head_product_sums.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/product_sums-inl.h"
#include "cplearn/simd/transform-inl.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

void ProductRowSums(const CodeView& view, const float* group, int64_t begin, int64_t end,
                    double* sum, float* expected) {
  switch (view.tile) {
    case 64:
      return ProductSums<64>(view).run(group, begin, end, sum, expected);
    case 128:
      return ProductSums<128>(view).run(group, begin, end, sum, expected);
    case 256:
      return ProductSums<256>(view).run(group, begin, end, sum, expected);
    default:
      return ProductSums<512>(view).run(group, begin, end, sum, expected);
  }
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(ProductRowSums);

void product_row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
                      std::int64_t tile_end, double* sum, float* expected) {
  HWY_DYNAMIC_DISPATCH(ProductRowSums)(codes, group, tile_begin, tile_end, sum, expected);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
