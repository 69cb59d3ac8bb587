// Compiled once per instruction set by Highway.

#include "cplearn/simd/attention_kernel.h"

#include <algorithm>
#include <cmath>

#include "cplearn/simd/gemm.h"
#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/attention_kernel.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kSide = 2;  // vectors at a time
constexpr std::int64_t kStep = kSide * hn::MaxLanes(D());
constexpr std::int64_t kRowPadding = 32;  // logits fill up rows to a multiple of this
static_assert(kRowPadding % kStep == 0);
constexpr float kLog2E = 1.44269504f;

// Queries at a time, so that their logits stay in the cache however many tokens there are.
constexpr std::int64_t kQueries = 96;

// x[j] = 2^(x[j] scale - shift) for a whole row; returns the sum.
HWY_INLINE float exponentials(float* HWY_RESTRICT x, std::int64_t length, float scale,
                              float shift) {
  const D d;
  const V factor = hn::Set(d, scale), offset = hn::Set(d, shift);
  V sum[kSide] = {hn::Zero(d), hn::Zero(d)};
  for (std::int64_t j = 0; j < length; j += kStep) {
    V y[kSide];
    for (int i = 0; i < kSide; ++i)
      y[i] = hn::MulSub(hn::Load(d, x + j + i * (kStep / kSide)), factor, offset);
    exp2<true>(y);
    for (int i = 0; i < kSide; ++i) {
      hn::Store(y[i], d, x + j + i * (kStep / kSide));
      sum[i] = hn::Add(sum[i], y[i]);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[0], sum[1])));
}

HWY_INLINE float largest(const float* HWY_RESTRICT x, std::int64_t length) {
  const D d;
  V most = hn::Load(d, x);
  for (std::int64_t j = 0; j < length; j += kStep / kSide) most = hn::Max(most, hn::Load(d, x + j));
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

HWY_INLINE void scale_row(float* HWY_RESTRICT x, std::int64_t length, float scale) {
  const D d;
  const V factor = hn::Set(d, scale);
  for (std::int64_t j = 0; j < length; j += kStep / kSide)
    hn::Store(hn::Mul(hn::Load(d, x + j), factor), d, x + j);
}

// Gradient of the softmax: dp <- p (dp - sum(p dp)) scale.
HWY_INLINE void softmax_backward(const float* HWY_RESTRICT p, float* HWY_RESTRICT dp,
                                 std::int64_t length, float scale) {
  const D d;
  V sum = hn::Zero(d);
  for (std::int64_t j = 0; j < length; j += kStep / kSide)
    sum = hn::MulAdd(hn::Load(d, p + j), hn::Load(d, dp + j), sum);
  const V mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum))), factor = hn::Set(d, scale);
  for (std::int64_t j = 0; j < length; j += kStep / kSide) {
    const V centred = hn::Sub(hn::Load(d, dp + j), mean);
    hn::Store(hn::Mul(hn::Mul(hn::Load(d, p + j), factor), centred), d, dp + j);
  }
}

// Matrices between the products, for one thread and as long as it lives.
class Scratch {
 public:
  float* get(std::int64_t size) {
    if (size > size_) {
      memory_ = allocate<float>(size);
      size_ = size;
    }
    return memory_.get();
  }

 private:
  Buffer memory_;
  std::int64_t size_ = 0;
};

class Head {
 public:
  explicit Head(const Attention& job)
      : job_(job),
        length_((job.tokens + kRowPadding - 1) / kRowPadding * kRowPadding),
        step_(gemm_stride<float>(length_)) {}

  void forward(Rows<float> out, float* log_sums) {
    thread_local Scratch logits, keys, values;
    const float* const k = pack_transposed(job_.k, keys);
    const float* const v = pack(job_.v, values);
    for_queries([&](std::int64_t first, std::int64_t count) {
      const Rows<float> p{logits.get(count * step_), step_};
      multiply_logits(job_.q[first], job_.q.step, k, p, count);
      for (std::int64_t i = 0; i < count; ++i) {
        std::fill(p[i] + job_.tokens, p[i] + length_, -1e30f);
        const float scale = job_.scale * kLog2E, shift = largest(p[i], length_) * scale;
        const float sum = exponentials(p[i], length_, scale, shift);
        scale_row(p[i], length_, 1 / sum);
        log_sums[first + i] = shift + std::log2(sum);
      }
      gemm(Gemm<float>{count, job_.width, job_.tokens, p.data, step_, 1, v, 0, 0, out[first],
                       out.step, false, true});
    });
  }

  void backward(const float* log_sums, ConstRows dout, Rows<float> dq, Rows<float> dk,
                Rows<float> dv) {
    thread_local Scratch logits, slopes, keys, values, rows;
    const float* const k = pack_transposed(job_.k, keys);
    const float* const v = pack_transposed(job_.v, values);
    const float* const k_rows = pack(job_.k, rows);
    for_queries([&](std::int64_t first, std::int64_t count) {
      const Rows<float> p{logits.get(count * step_), step_};
      const Rows<float> dp{slopes.get(count * step_), step_};
      multiply_logits(job_.q[first], job_.q.step, k, p, count);
      multiply_logits(dout[first], dout.step, v, dp, count);
      for (std::int64_t i = 0; i < count; ++i) {
        std::fill(p[i] + job_.tokens, p[i] + length_, -1e30f);
        std::fill(dp[i] + job_.tokens, dp[i] + length_, 0.0f);
        exponentials(p[i], length_, job_.scale * kLog2E, log_sums[first + i]);
        softmax_backward(p[i], dp[i], length_, job_.scale);
      }
      const std::int64_t tokens = job_.tokens, width = job_.width;
      const bool add = first > 0;
      gemm(Gemm<float>{count, width, tokens, dp.data, step_, 1, k_rows, 0, 0, dq[first], dq.step,
                       false, true});
      gemm(Gemm<float>{tokens, width, count, dp.data, 1, step_, job_.q[first], job_.q.step, 1,
                       dk.data, dk.step, add});
      gemm(Gemm<float>{tokens, width, count, p.data, 1, step_, dout[first], dout.step, 1, dv.data,
                       dv.step, add});
    });
  }

 private:
  const float* pack(ConstRows x, Scratch& scratch) const {
    float* const packed = scratch.get(packed_b_size<float>(job_.width, job_.tokens));
    pack_b(job_.width, job_.tokens, x.data, x.step, 1, packed);
    return packed;
  }

  const float* pack_transposed(ConstRows x, Scratch& scratch) const {
    float* const packed = scratch.get(packed_b_size<float>(job_.tokens, job_.width));
    pack_b(job_.tokens, job_.width, x.data, 1, x.step, packed);
    return packed;
  }

  // c [count][tokens] = x b
  void multiply_logits(const float* x, std::int64_t x_step, const float* b, Rows<float> c,
                       std::int64_t count) const {
    gemm(Gemm<float>{count, job_.tokens, job_.width, x, x_step, 1, b, 0, 0, c.data, c.step, false,
                     true});
  }

  // body(first, count) for the queries in equal parts
  template <class Body>
  void for_queries(const Body& body) const {
    const std::int64_t parts = (job_.queries + kQueries - 1) / kQueries;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t first = job_.queries * part / parts;
      body(first, job_.queries * (part + 1) / parts - first);
    }
  }

  const Attention& job_;
  const std::int64_t length_;  // of a row of logits
  const std::int64_t step_;    // from row to row of the logits
};

void forward(const Attention& job, Rows<float> out, float* log_sums) {
  Head(job).forward(out, log_sums);
}

void backward(const Attention& job, const float* log_sums, ConstRows dout, Rows<float> dq,
              Rows<float> dk, Rows<float> dv) {
  Head(job).backward(log_sums, dout, dq, dk, dv);
}

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void attention(const Attention& job, Rows<float> out, float* log_sums) {
  HWY_DYNAMIC_DISPATCH(forward)(job, out, log_sums);
}

void attention_backward(const Attention& job, const float* log_sums, ConstRows dout, Rows<float> dq,
                        Rows<float> dk, Rows<float> dv) {
  HWY_DYNAMIC_DISPATCH(backward)(job, log_sums, dout, dq, dk, dv);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
