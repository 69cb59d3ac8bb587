// max(x, 0), for the kernels that have it in common.
// Included once per instruction set (Highway's idiom), hence the odd guard.

#if defined(CPLEARN_SIMD_RELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CPLEARN_SIMD_RELU_INL_H_
#undef CPLEARN_SIMD_RELU_INL_H_
#else
#define CPLEARN_SIMD_RELU_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

// NaN passes, as it does in libtorch: a network that has gone wrong must not look like one that is
// merely switched off. x86 has it for nothing: where one of the two is NaN, its maximum is the
// second. Other maxima are the one that is a number.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V relu(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && HWY_ARCH_X86
  return hn::Max(hn::Zero(d), x);
#else
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
#endif
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
