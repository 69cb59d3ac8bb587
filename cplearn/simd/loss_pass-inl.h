// The head's second pass: with the row sums known, loss and gradient.
// Included once per instruction set (Highway's idiom), hence the odd guard.

#if defined(CPLEARN_SIMD_LOSS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CPLEARN_SIMD_LOSS_PASS_INL_H_
#undef CPLEARN_SIMD_LOSS_PASS_INL_H_
#else
#define CPLEARN_SIMD_LOSS_PASS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cplearn/simd/head_kernel.h"
#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

constexpr double kLn2 = 0.6931471805599453;

// Column sums under this are recomputed in log space: fp32 has lost digits there.
constexpr float kTinyMean = 1e-30f;

// One pass over a range of tiles for all rows: probabilities, means, loss sums, gradients. Within a
// tile a block of a few chunks at a time, so that what must wait for the mean over all rows (the
// block's logits and probabilities) stays in the first-level cache.
template <class Codes, class Chunk>
class LossPass {
 public:
  explicit LossPass(LossJob& job)
      : job_(job),
        codes_(job.codes),
        groups_((job.rows + kLanes - 1) / kLanes),
        tile_(job.codes.tile),
        group_size_(job.codes.packed_width() * kLanes),
        // An odd number of chunks: with a power of two all groups would share a few cache sets.
        stride_((tile_ + R) * kLanes),
        room_(allocate<float>(2 * groups_ * group_size_)),
        work_(allocate<float>(2 * groups_ * stride_)),
        probs_(allocate<float>(2 * groups_ * kBlock * kLanes)),
        extra_(allocate<float>(2 * groups_ * kBlock * kLanes)),
        along_(allocate<float>(2 * groups_ * kLanes)) {
    for (int v = 0; v < 2; ++v) {
      for (int64_t g = 0; g < groups_; ++g)
        rows_[v].push_back(codes_.prepare(job.packed[v] + g * group_size_,
                                          room_.get() + (v * groups_ + g) * group_size_));
      if (job.gradient) std::fill(job.weighted[v], job.weighted[v] + groups_ * group_size_, 0.0f);
    }
    clear_sums();
  }
  ~LossPass() {
    flush_sums();
    for (int v = 0; job_.gradient && v < 2; ++v) {
      for (int64_t g = 0; g < groups_; ++g) codes_.finish(job_.weighted[v] + g * group_size_);
    }
  }

  void run(int64_t tile) {
    codes_.select(tile);
    for (int v = 0; v < 2; ++v) {
      for (int64_t g = 0; g < groups_; ++g)
        codes_.spread(rows_[v][static_cast<size_t>(g)], work(v, g));
    }
    const int64_t first_code = tile * tile_;
    const int64_t valid = std::min(tile_, job_.codes.codes - first_code);
    for (int64_t j = 0; j < valid; j += kBlock) {
      const int count = static_cast<int>(std::min<int64_t>(kBlock, valid - j));
      for (int v = 0; v < 2; ++v) {
        if (job_.bounded) {
          probabilities<false>(v, j, count);
        } else {
          probabilities<true>(v, j, count);
        }
        means(v, first_code + j, count);
        prior(v, j, first_code + j, count);
      }
      if (!job_.gradient) continue;
      // The gradient's weights of a view go where the other view's logits were: these are not
      // needed any more, its own still are.
      for (int v = 0; v < 2; ++v) {
        if (has_extra_[v]) {
          weights<true>(v, j, count);
        } else {
          weights<false>(v, j, count);
        }
      }
    }
    summed_codes_ += valid;
    if (summed_codes_ >= kFlush) flush_sums();
    if (!job_.gradient) return;
    const int64_t end = (valid + R - 1) / R * R * kLanes;
    for (int v = 0; v < 2; ++v) {
      for (int64_t g = 0; g < groups_; ++g) {
        std::fill(work(1 - v, g) + end, work(1 - v, g) + tile_ * kLanes, 0.0f);
        codes_.gather(work(1 - v, g), job_.weighted[v] + g * group_size_);
      }
    }
  }

 private:
  static constexpr int R = Chunk::kCodes;
  static constexpr int kBlock = 32;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  static_assert(kBlock % R == 0 && kBlock % kLanes == 0);
  // Sums over codes are kept in fp32 for about so many codes, then added to those in double.
  static constexpr int64_t kFlush = 1024;

  float* work(int v, int64_t g) { return work_.get() + (v * groups_ + g) * stride_; }
  float* probs(int v, int64_t g) { return probs_.get() + (v * groups_ + g) * kBlock * kLanes; }
  float* extra(int v, int64_t g) { return extra_.get() + (v * groups_ + g) * kBlock * kLanes; }
  float* along(int v, int64_t g) { return along_.get() + (v * groups_ + g) * kLanes; }

  void clear_sums() { std::fill(along(0, 0), along(0, 0) + 2 * groups_ * kLanes, 0.0f); }

  void flush_sums() {
    for (int v = 0; v < 2; ++v) {
      for (int64_t i = 0; i < groups_ * kLanes; ++i) job_.along[v][i] += along(v, 0)[i];
    }
    clear_sums();
    summed_codes_ = 0;
  }

  // Logits of the block at j, in place, and probabilities, which are 0 for codes that do not exist.
  template <bool kClamp>
  void probabilities(int v, int64_t j, int count) {
    const D d;
    for (int64_t g = 0; g < groups_; ++g) {
      const V log_sum = hn::LoadU(d, job_.log_sum[v] + g * kLanes);
      float* HWY_RESTRICT p = probs(v, g);
      for (int first = 0; first < count; first += R) {
        float* HWY_RESTRICT logits = work(v, g) + (j + first) * kLanes;
        V x[R];
        load<R>(logits, x);
        Chunk::transform(x);
        store<R>(x, logits);
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) x[r] = hn::Sub(x[r], log_sum);
        exp2<kClamp>(x);
        store<R>(x, p + first * kLanes);
      }
      if (count < kBlock) std::fill(p + count * kLanes, p + kBlock * kLanes, 0.0f);
    }
  }

  // The mean probability of each code of the block, unless it is known.
  void means(int v, int64_t code, int count) {
    const D d;
    float* HWY_RESTRICT known = job_.mean[v] + code;
    if (job_.mean_given) {
      std::copy(known, known + count, mean_[v]);
      return;
    }
    const V per_row = hn::Set(d, 1.0f / static_cast<float>(job_.total_rows));
    for (int first = 0; first < count; first += kLanes) {
      V column[kLanes];
      for (V& sum : column) sum = hn::Zero(d);
      for (int64_t g = 0; g < groups_; ++g) {
        const float* HWY_RESTRICT p = probs(v, g) + first * kLanes;
        HWY_UNROLL(16)
        for (int r = 0; r < kLanes; ++r)
          column[r] = hn::Add(column[r], hn::Load(d, p + r * kLanes));
      }
      hn::Store(hn::Mul(per_row, lane_sums<kLanes>(column)), d, mean_[v] + first);
    }
    std::copy(mean_[v], mean_[v] + count, known);
  }

  // The prior terms of the block, and pull_ = d(loss)/d(p_ij) through the mean of code j. Without
  // the constant +1 of the reverse form and of "others", which the softmax cancels.
  void prior(int v, int64_t j, int64_t code, int count) {
    const D d;
    const float weight = job_.prior_weight[v] / static_cast<float>(job_.total_rows);
    const bool forward = job_.prior_form == PriorForm::kForward;
    // "others": the sum over n rows stands for that over n - 1.
    const float n = static_cast<float>(job_.total_rows);
    const V scale = hn::Set(d, job_.prior_form == PriorForm::kOthers ? n / (n - 1) : 1.0f);
    V total = hn::Zero(d);
    bool tiny = false;
    for (int first = 0; first < count; first += kLanes) {
      const size_t here = static_cast<size_t>(std::min(kLanes, count - first));
      const auto inside = hn::FirstN(d, here);
      const V m = hn::Load(d, mean_[v] + first);
      V q = hn::Set(d, 1.0f / static_cast<float>(job_.codes.codes));
      if (job_.prior) {
        HWY_ALIGN float buffer[kLanes];
        std::fill(buffer, buffer + kLanes, 1.0f);  // codes that do not exist: any positive number
        std::copy(job_.prior + code + first, job_.prior + code + first + here, buffer);
        q = hn::Load(d, buffer);
      }
      const V safe = hn::Max(m, hn::Set(d, kTinyMean));
      V term, slope;
      if (forward) {
        slope = hn::Neg(hn::Div(q, safe));
        term = hn::Neg(hn::Mul(q, hn::Log(d, safe)));
        tiny = tiny || !hn::AllFalse(d, hn::And(inside, hn::Ne(m, safe)));
      } else {
        slope = hn::Log(d, hn::Div(hn::Mul(scale, safe), q));
        term = hn::Mul(m, slope);
      }
      hn::Store(hn::Mul(hn::Set(d, weight), slope), d, pull_[v] + first);
      total = hn::Add(total, hn::IfThenElseZero(inside, term));
    }
    job_.prior_value[v] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
    has_extra_[v] = tiny && !job_.mean_given;
    if (has_extra_[v]) underflows(v, j, code, count);
    if (job_.prior_form == PriorForm::kOthers) others(v, code, count);
  }

  // What it changes that an image is held against the others only: r = p / sum of the code's
  // column, log(1 - r) in the value, and crowd - r / (1 - r) + log(1 - r) in the slope.
  void others(int v, int64_t code, int count) {
    const D d;
    const float weight = job_.prior_weight[v] / static_cast<float>(job_.total_rows);
    const V one = hn::Set(d, 1.0f), least = hn::Set(d, kLeastOthers);
    V total = hn::Zero(d);
    for (int r = 0; r < count; ++r) {
      const V share = hn::Set(
          d, 1.0f / (static_cast<float>(job_.total_rows) * std::max(mean_[v][r], kTinyMean)));
      V crowd = hn::Zero(d);
      for (int64_t g = 0; g < groups_; ++g) {
        const V p = hn::Load(d, probs(v, g) + r * kLanes);
        const V own = hn::Mul(p, share);
        const V left = hn::Max(hn::Sub(one, own), least);
        const V log_left = hn::Log(d, left);
        const V steep = hn::IfThenElseZero(hn::Gt(left, least), hn::Div(own, left));
        crowd = hn::MulAdd(own, steep, crowd);
        total = hn::MulAdd(p, log_left, total);
        const V slope = hn::Mul(p, hn::Sub(log_left, steep));
        hn::Store(hn::Mul(hn::Set(d, weight), slope), d, extra(v, g) + r * kLanes);
      }
      if (!job_.crowd_given) job_.crowd[v][code + r] = hn::GetLane(hn::SumOfLanes(d, crowd));
      pull_[v][r] += weight * job_.crowd[v][code + r];
    }
    for (int64_t g = 0; g < groups_; ++g)
      std::fill(extra(v, g) + count * kLanes, extra(v, g) + kBlock * kLanes, 0.0f);
    job_.prior_own[v] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total))) /
                         static_cast<double>(job_.total_rows);
    has_extra_[v] = true;
  }

  // Codes whose mean underflows, where the forward prior's slope q / mean is huge and p / mean is
  // still an ordinary number: redone in log space. extra_ is what they add to the gradient's
  // weights.
  void underflows(int v, int64_t j, int64_t code, int count) {
    const D d;
    const float weight = job_.prior_weight[v] / static_cast<float>(job_.total_rows);
    std::fill(extra(v, 0), extra(v, 0) + groups_ * kBlock * kLanes, 0.0f);
    for (int r = 0; r < count; ++r) {
      if (job_.mean[v][code + r] >= kTinyMean) continue;
      const double q =
          job_.prior ? job_.prior[code + r] : 1.0 / static_cast<double>(job_.codes.codes);
      const double log2_mean = log2_column_mean(v, j + r);
      job_.prior_value[v] -= q * (log2_mean * kLn2 - std::log(static_cast<double>(kTinyMean)));
      pull_[v][r] = 0;
      const V pull = hn::Set(d, static_cast<float>(-q) * weight);
      for (int64_t g = 0; g < groups_; ++g) {
        const V log_sum = hn::LoadU(d, job_.log_sum[v] + g * kLanes);
        const V log_p = hn::Sub(hn::Load(d, work(v, g) + (j + r) * kLanes), log_sum);
        const V ratio = exp2<true>(hn::Sub(log_p, hn::Set(d, static_cast<float>(log2_mean))));
        hn::Store(hn::Mul(pull, ratio), d, extra(v, g) + r * kLanes);
      }
    }
  }

  // log2 of the mean probability of a code whose sum underflows.
  double log2_column_mean(int v, int64_t j) {
    double top = -1e300;
    for (int64_t row = 0; row < job_.rows; ++row) top = std::max(top, log2_probability(v, row, j));
    double sum = 0;
    for (int64_t row = 0; row < job_.rows; ++row)
      sum += std::exp2(log2_probability(v, row, j) - top);
    return top + std::log2(sum / static_cast<double>(job_.total_rows));
  }

  double log2_probability(int v, int64_t row, int64_t j) {
    const int64_t g = row / kLanes, lane = row % kLanes;
    return static_cast<double>(work(v, g)[j * kLanes + lane]) - job_.log_sum[v][row];
  }

  // Row sums of view v, and the weights g = p u of its gradient, transformed within the chunk
  // (`kExtra` at compile time: two tests in the loop, never taken, cost a sixth of the pass):
  // u = -(cross_weight_v / n) log p_other + (prior_weight_v / n) slope, log p_other without its row
  // constant, which the softmax cancels. That p also stands in the
  // other view's logarithm needs no transform of its own: it gives (cross_weight_other / n) (p -
  // p_other), whose sum over codes is a difference of expected codes.
  template <bool kExtra>
  void weights(int v, int64_t j, int count) {
    const D d;
    const V cross = hn::Set(
        d, -job_.cross_weight[v] * static_cast<float>(kLn2) / static_cast<float>(job_.total_rows));
    for (int64_t g = 0; g < groups_; ++g) {
      V total = hn::Load(d, along(v, g));
      for (int first = 0; first < count; first += R) {
        float* HWY_RESTRICT other = work(1 - v, g) + (j + first) * kLanes;
        const float* HWY_RESTRICT p = probs(v, g) + first * kLanes;
        const float* HWY_RESTRICT pull = pull_[v] + first;
        V x[R];
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) {
          const V u = hn::MulAdd(cross, hn::Load(d, other + r * kLanes), hn::Set(d, pull[r]));
          x[r] = hn::Mul(hn::Load(d, p + r * kLanes), u);
        }
        if constexpr (kExtra) {
          for (int r = 0; r < R; ++r)
            x[r] = hn::Add(x[r], hn::Load(d, extra(v, g) + (first + r) * kLanes));
        }
        Chunk::transform(x);
        total = hn::Add(total, Chunk::sum(x));
        store<R>(x, other);
      }
      hn::Store(total, d, along(v, g));
    }
  }

  LossJob& job_;
  Codes codes_;
  const int64_t groups_, tile_, group_size_, stride_;
  std::vector<const float*> rows_[2];  // [view][group], prepared
  Buffer room_;                        // [view][group][packed_width][lanes], for prepared rows
  Buffer work_;   // [view][group][tile][lanes], a little apart: logits, then weights
  Buffer probs_;  // [view][group][block][lanes]
  Buffer extra_;  // [view][group][block][lanes], used when has_extra_
  Buffer along_;  // [view][group][lanes]
  int64_t summed_codes_ = 0;
  HWY_ALIGN float mean_[2][kBlock] = {};
  HWY_ALIGN float pull_[2][kBlock] = {};
  bool has_extra_[2] = {};
};

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
