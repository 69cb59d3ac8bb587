// Compiled once per instruction set by Highway.

#include "cplearn/simd/batch_norm_kernel.h"

#include <algorithm>
#include <vector>

#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/batch_norm_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/relu-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, kChannelMultiple>;

constexpr std::int64_t kRowsAtOnce = 64;  // summed in T before they go to double

// dy where y > 0, or all of it.
template <bool relu, class T, class D = Tag<T>>
HWY_INLINE hn::Vec<D> gradient(const NormJob<T>& job, std::int64_t i) {
  const D d;
  const auto dy = hn::LoadU(d, job.dy + i);
  if constexpr (!relu) return dy;
  return hn::IfThenElseZero(hn::Gt(hn::LoadU(d, job.result + i), hn::Zero(d)), dy);
}

// Adds to sums what terms(i, x', a, b) adds to a and b, with x' = x - centre at element i. Memory
// is read in its order, the sums of some rows stay in the first-level cache.
template <class T, class Terms>
HWY_INLINE void add_sums(const NormJob<T>& job, double* sums, const Terms& terms) {
  const Tag<T> d;
  std::vector<T> some(2 * job.channels);
  T* const first = some.data();
  T* const second = first + job.channels;
  for (std::int64_t row = 0; row < job.rows; row += kRowsAtOnce) {
    std::fill(some.begin(), some.end(), T{0});
    const std::int64_t end = std::min(row + kRowsAtOnce, job.rows);
    for (std::int64_t r = row; r < end; r += 4) {
      const std::int64_t count = std::min<std::int64_t>(4, end - r);
      for (std::int64_t c = 0; c < job.channels; c += static_cast<std::int64_t>(hn::Lanes(d))) {
        const auto centre = hn::LoadU(d, job.centre + c);
        auto a = hn::LoadU(d, first + c), b = hn::LoadU(d, second + c);
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t i = (r + k) * job.channels + c;
          terms(i, c, hn::Sub(hn::LoadU(d, job.x + i), centre), a, b);
        }
        hn::StoreU(a, d, first + c);
        hn::StoreU(b, d, second + c);
      }
    }
    for (std::int64_t c = 0; c < 2 * job.channels; ++c) sums[c] += static_cast<double>(some[c]);
  }
}

template <class T>
void sums(const NormJob<T>& job, double* to) {
  using V = hn::Vec<Tag<T>>;
  add_sums(job, to, [](std::int64_t, std::int64_t, V x, V& a, V& b) HWY_ATTR {
    a = hn::Add(a, x);
    b = hn::MulAdd(x, x, b);
  });
}

template <bool relu, class T>
void gradient_sums(const NormJob<T>& job, double* to) {
  using V = hn::Vec<Tag<T>>;
  add_sums(job, to, [&job](std::int64_t i, std::int64_t, V x, V& a, V& b) HWY_ATTR {
    const V g = gradient<relu>(job, i);
    a = hn::Add(a, g);
    b = hn::MulAdd(g, x, b);
  });
}

template <class T>
void relu_gradient_sums(const NormJob<T>& job, double* to) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  add_sums(job, to, [&job, d](std::int64_t i, std::int64_t c, V x, V& a, V& b) HWY_ATTR {
    const V y = hn::MulAdd(hn::LoadU(d, job.x + i), hn::LoadU(d, job.scale + c),
                           hn::LoadU(d, job.offset + c));
    const V g = hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), hn::LoadU(d, job.dx + i));
    hn::StoreU(g, d, job.dx + i);
    a = hn::Add(a, g);
    b = hn::MulAdd(g, x, b);
  });
}

template <bool activated, bool residual, class T>
void apply(const NormJob<T>& job) {
  const Tag<T> d;
  for (std::int64_t row = 0; row < job.rows; ++row) {
    for (std::int64_t c = 0; c < job.channels; c += static_cast<std::int64_t>(hn::Lanes(d))) {
      const std::int64_t i = row * job.channels + c;
      auto y = hn::MulAdd(hn::LoadU(d, job.x + i), hn::LoadU(d, job.scale + c),
                          hn::LoadU(d, job.offset + c));
      if constexpr (residual) y = hn::Add(y, hn::LoadU(d, job.residual + i));
      if constexpr (activated) y = relu(d, y);
      hn::StoreU(y, d, job.y + i);
    }
  }
}

template <bool relu, bool residual, class T>
void gradient_apply(const NormJob<T>& job) {
  const Tag<T> d;
  for (std::int64_t row = 0; row < job.rows; ++row) {
    for (std::int64_t c = 0; c < job.channels; c += static_cast<std::int64_t>(hn::Lanes(d))) {
      const std::int64_t i = row * job.channels + c;
      const auto g = gradient<relu>(job, i);
      const auto rest = hn::MulAdd(hn::LoadU(d, job.x + i), hn::LoadU(d, job.input_factor + c),
                                   hn::LoadU(d, job.constant + c));
      hn::StoreU(hn::MulAdd(g, hn::LoadU(d, job.gradient_factor + c), rest), d, job.dx + i);
      if constexpr (residual) hn::StoreU(g, d, job.dresidual + i);
    }
  }
}

template <class T>
void run_apply(const NormJob<T>& job) {
  if (job.residual) {
    job.relu ? apply<true, true>(job) : apply<false, true>(job);
  } else {
    job.relu ? apply<true, false>(job) : apply<false, false>(job);
  }
}

template <class T>
void run_gradient(const NormJob<T>& job) {
  if (job.dresidual) {
    job.relu ? gradient_apply<true, true>(job) : gradient_apply<false, true>(job);
  } else {
    job.relu ? gradient_apply<true, false>(job) : gradient_apply<false, false>(job);
  }
}

void sums_f(const NormJob<float>& job, double* to) { sums(job, to); }
void sums_d(const NormJob<double>& job, double* to) { sums(job, to); }
void apply_f(const NormJob<float>& job) { run_apply(job); }
void apply_d(const NormJob<double>& job) { run_apply(job); }
void gradient_sums_f(const NormJob<float>& job, double* to) {
  job.relu ? gradient_sums<true>(job, to) : gradient_sums<false>(job, to);
}
void gradient_sums_d(const NormJob<double>& job, double* to) {
  job.relu ? gradient_sums<true>(job, to) : gradient_sums<false>(job, to);
}
void relu_gradient_sums_f(const NormJob<float>& job, double* to) { relu_gradient_sums(job, to); }
void relu_gradient_sums_d(const NormJob<double>& job, double* to) { relu_gradient_sums(job, to); }
void gradient_f(const NormJob<float>& job) { run_gradient(job); }
void gradient_d(const NormJob<double>& job) { run_gradient(job); }

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

#define CPLEARN_NORM(T, suffix)                                     \
  HWY_EXPORT(sums_##suffix);                                        \
  HWY_EXPORT(apply_##suffix);                                       \
  HWY_EXPORT(gradient_sums_##suffix);                               \
  HWY_EXPORT(relu_gradient_sums_##suffix);                          \
  HWY_EXPORT(gradient_##suffix);                                    \
  template <>                                                       \
  void norm_sums(const NormJob<T>& job, double* to) {               \
    HWY_DYNAMIC_DISPATCH(sums_##suffix)(job, to);                   \
  }                                                                 \
  template <>                                                       \
  void norm_apply(const NormJob<T>& job) {                          \
    HWY_DYNAMIC_DISPATCH(apply_##suffix)(job);                      \
  }                                                                 \
  template <>                                                       \
  void norm_gradient_sums(const NormJob<T>& job, double* to) {      \
    HWY_DYNAMIC_DISPATCH(gradient_sums_##suffix)(job, to);          \
  }                                                                 \
  template <>                                                       \
  void norm_relu_gradient_sums(const NormJob<T>& job, double* to) { \
    HWY_DYNAMIC_DISPATCH(relu_gradient_sums_##suffix)(job, to);     \
  }                                                                 \
  template <>                                                       \
  void norm_gradient(const NormJob<T>& job) {                       \
    HWY_DYNAMIC_DISPATCH(gradient_##suffix)(job);                   \
  }

CPLEARN_NORM(float, f)
CPLEARN_NORM(double, d)
#undef CPLEARN_NORM

}  // namespace cpl::simd
#endif  // HWY_ONCE
