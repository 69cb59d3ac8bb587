// Compiled once per instruction set by Highway.

#include "cplearn/simd/softmax_kernel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/softmax_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr std::int64_t kBlock = 32;   // rows at a time: with the weights, in the second-level cache
constexpr std::int64_t kFlush = 8;    // blocks between additions to the gradient in double
constexpr std::int64_t kClasses = 5;  // classes of a register tile: 5 x 2 sums in 16 registers
constexpr float kNoClass = -1e30f;    // logit of a class that only fills a tile

class SoftmaxPass {
 public:
  SoftmaxPass(const SoftmaxJob& job, double* weight_gradient, double* bias_gradient)
      : job_(job),
        classes_((job.classes + kClasses - 1) / kClasses * kClasses),
        weight_(classes_ * job.width, 0.0f),
        gradient_(classes_ * job.width, 0.0f),
        values_(classes_ * kBlock),
        weight_gradient_(weight_gradient),
        bias_gradient_(bias_gradient) {
    std::copy_n(job.weight, job.classes * job.width, weight_.begin());
  }

  double run(std::int64_t begin, std::int64_t end) {
    double loss = 0;
    std::int64_t blocks = 0;
    for (std::int64_t first = begin; first < end; first += kBlock) {
      const std::int64_t count = std::min(kBlock, end - first);
      // Rows beyond the end repeat the last one, and count for nothing.
      for (std::int64_t r = 0; r < kBlock; ++r)
        row_[r] = job_.rows + (first + std::min(r, count - 1)) * job_.width;
      logits();
      loss += probabilities(job_.labels + first, count);
      add_gradient(first + 2 * kBlock <= end ? kBlock * job_.width : 0);
      if (++blocks % kFlush == 0) flush();
    }
    flush();
    return loss;
  }

 private:
  float* values(std::int64_t c) { return values_.data() + c * kBlock; }

  // values[c][r] = weight_c * row_r + bias_c
  void logits() {
    const D d;
    for (std::int64_t c = 0; c < classes_; c += kClasses) {
      for (std::int64_t r = 0; r < kBlock; r += 2) {
        V sum[kClasses][2];
        for (auto& pair : sum) pair[0] = pair[1] = hn::Zero(d);
        const float* HWY_RESTRICT weight = weight_.data() + c * job_.width;
        for (std::int64_t j = 0; j < job_.width; j += kLanes) {
          const V x0 = hn::LoadU(d, row_[r] + j), x1 = hn::LoadU(d, row_[r + 1] + j);
          HWY_UNROLL(5)
          for (std::int64_t i = 0; i < kClasses; ++i) {
            const V w = hn::LoadU(d, weight + i * job_.width + j);
            sum[i][0] = hn::MulAdd(w, x0, sum[i][0]);
            sum[i][1] = hn::MulAdd(w, x1, sum[i][1]);
          }
        }
        for (std::int64_t i = 0; i < kClasses; ++i) {
          const float bias = c + i < job_.classes ? job_.bias[c + i] : kNoClass;
          for (int side = 0; side < 2; ++side)
            values(c + i)[r + side] = bias + hn::GetLane(hn::SumOfLanes(d, sum[i][side]));
        }
      }
    }
  }

  // values = softmax - one-hot, zero for rows from `count` on. Returns the loss.
  double probabilities(const std::int64_t* labels, std::int64_t count) {
    const D d;
    double loss = 0;
    for (std::int64_t r = 0; r < count; ++r) loss -= static_cast<double>(values(labels[r])[r]);
    HWY_ALIGN float top[kBlock], total[kBlock];
    for (std::int64_t r = 0; r < kBlock; r += kLanes) {
      V most = hn::LoadU(d, values(0) + r), sum = hn::Zero(d);
      for (std::int64_t c = 1; c < job_.classes; ++c)
        most = hn::Max(most, hn::LoadU(d, values(c) + r));
      for (std::int64_t c = 0; c < classes_; ++c) {
        const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, values(c) + r), most));
        hn::StoreU(e, d, values(c) + r);
        sum = hn::Add(sum, e);
      }
      const V share = hn::Div(hn::Set(d, 1.0f), sum);
      for (std::int64_t c = 0; c < classes_; ++c)
        hn::StoreU(hn::Mul(hn::LoadU(d, values(c) + r), share), d, values(c) + r);
      hn::Store(most, d, top + r);
      hn::Store(sum, d, total + r);
    }
    for (std::int64_t r = 0; r < count; ++r) {
      loss += static_cast<double>(top[r]) + std::log(static_cast<double>(total[r]));
      values(labels[r])[r] -= 1;
    }
    for (std::int64_t c = 0; c < classes_; ++c)
      std::fill(values(c) + count, values(c) + kBlock, 0.0f);
    return loss;
  }

  // gradient[c] += sum_r values[c][r] row_r. Meanwhile the next block's rows, which begin `ahead`
  // of these, are fetched from memory.
  void add_gradient(std::int64_t ahead) {
    const D d;
    for (std::int64_t c = 0; c < job_.classes; ++c) {
      double sum = 0;
      for (std::int64_t r = 0; r < kBlock; ++r) sum += static_cast<double>(values(c)[r]);
      bias_gradient_[c] += sum;
    }
    constexpr std::int64_t kStep = std::min<std::int64_t>(2 * kLanes, kSoftmaxPadding);
    constexpr int kSides = kStep / kLanes;
    for (std::int64_t j = 0; j < job_.width; j += kStep) {
      for (std::int64_t c = 0; c < classes_; c += kClasses) {
        V sum[kClasses][kSides];
        for (std::int64_t i = 0; i < kClasses; ++i) {
          for (int side = 0; side < kSides; ++side)
            sum[i][side] = hn::LoadU(d, gradient(c + i) + j + side * kLanes);
        }
        for (std::int64_t r = 0; r < kBlock; ++r) {
          if (c == 0) hwy::Prefetch(row_[r] + ahead + j);
          V x[kSides];
          for (int side = 0; side < kSides; ++side)
            x[side] = hn::LoadU(d, row_[r] + j + side * kLanes);
          HWY_UNROLL(5)
          for (std::int64_t i = 0; i < kClasses; ++i) {
            const V value = hn::Set(d, values(c + i)[r]);
            for (int side = 0; side < kSides; ++side)
              sum[i][side] = hn::MulAdd(value, x[side], sum[i][side]);
          }
        }
        for (std::int64_t i = 0; i < kClasses; ++i) {
          for (int side = 0; side < kSides; ++side)
            hn::StoreU(sum[i][side], d, gradient(c + i) + j + side * kLanes);
        }
      }
    }
  }

  void flush() {
    for (std::int64_t i = 0; i < job_.classes * job_.width; ++i)
      weight_gradient_[i] += static_cast<double>(gradient_[i]);
    std::fill(gradient_.begin(), gradient_.end(), 0.0f);
  }

  float* gradient(std::int64_t c) { return gradient_.data() + c * job_.width; }

  static constexpr std::int64_t kLanes = hn::MaxLanes(D());
  static_assert(kSoftmaxPadding % kLanes == 0 && kBlock % kLanes == 0);

  const SoftmaxJob& job_;
  const std::int64_t classes_;   // rounded up to whole tiles
  std::vector<float> weight_;    // [classes_][width]
  std::vector<float> gradient_;  // [classes_][width]
  std::vector<float> values_;    // [classes_][kBlock]: logits, then d(loss)/d(logits)
  const float* row_[kBlock] = {};
  double* weight_gradient_;
  double* bias_gradient_;
};

double RunSoftmaxPass(const SoftmaxJob& job, std::int64_t begin, std::int64_t end,
                      double* weight_gradient, double* bias_gradient) {
  return SoftmaxPass(job, weight_gradient, bias_gradient).run(begin, end);
}

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(RunSoftmaxPass);

double softmax_pass(const SoftmaxJob& job, std::int64_t begin, std::int64_t end,
                    double* weight_gradient, double* bias_gradient) {
  return HWY_DYNAMIC_DISPATCH(RunSoftmaxPass)(job, begin, end, weight_gradient, bias_gradient);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
