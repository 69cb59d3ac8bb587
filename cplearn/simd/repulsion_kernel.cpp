// Compiled once per instruction set by Highway.

#include "cplearn/simd/repulsion_kernel.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/repulsion_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void repel(const Bodies& bodies, const float* HWY_RESTRICT x, const float* HWY_RESTRICT y,
           std::int64_t count, float* HWY_RESTRICT force_x, float* HWY_RESTRICT force_y,
           float* HWY_RESTRICT sum) {
  const hn::ScalableTag<float> tag;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
  const auto one = hn::Set(tag, 1.0f);
  const std::int64_t whole = bodies.count / lanes * lanes;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto xi = hn::Set(tag, x[i]), yi = hn::Set(tag, y[i]);
    auto fx = hn::Zero(tag), fy = hn::Zero(tag), total = hn::Zero(tag);
    for (std::int64_t k = 0; k < whole; k += lanes) {
      const auto dx = hn::Sub(xi, hn::LoadU(tag, bodies.x + k));
      const auto dy = hn::Sub(yi, hn::LoadU(tag, bodies.y + k));
      const auto q = hn::Div(one, hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, one)));
      const auto weighted = hn::Mul(q, hn::LoadU(tag, bodies.mass + k));
      const auto pull = hn::Mul(weighted, q);
      total = hn::Add(total, weighted);
      fx = hn::MulAdd(pull, dx, fx);
      fy = hn::MulAdd(pull, dy, fy);
    }
    force_x[i] = hn::GetLane(hn::SumOfLanes(tag, fx));
    force_y[i] = hn::GetLane(hn::SumOfLanes(tag, fy));
    sum[i] = hn::GetLane(hn::SumOfLanes(tag, total));
    for (std::int64_t k = whole; k < bodies.count; ++k) {
      const float dx = x[i] - bodies.x[k], dy = y[i] - bodies.y[k];
      const float q = 1 / (1 + dx * dx + dy * dy);
      sum[i] += bodies.mass[k] * q;
      force_x[i] += bodies.mass[k] * q * q * dx;
      force_y[i] += bodies.mass[k] * q * q * dy;
    }
  }
}

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(repel);

void repel(const Bodies& bodies, const float* x, const float* y, std::int64_t count, float* force_x,
           float* force_y, float* sum) {
  HWY_DYNAMIC_DISPATCH(repel)(bodies, x, y, count, force_x, force_y, sum);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
