// Design notes are in head_kernel.h. This file is compiled once per instruction set by Highway.

#include "cplearn/simd/head_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/head_kernel.cpp"
// Vectors are kept in arrays, which scalable types (SVE, RVV) do not allow.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cplearn/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {

using Buffer = hwy::AlignedFreeUniquePtr<float[]>;

constexpr double kLn2 = 0.6931471805599453;

// Column sums under this are recomputed in log space: fp32 has lost digits there.
constexpr float kTinyMean = 1e-30f;

// x[i] = 2^x[i] for -126 <= x <= 127; with `kClamp`, also 2^-126 where x is below. Relative error
// under 2e-7: a degree-5 minimax polynomial on [-0.5, 0.5]; adding 1.5 * 2^23 rounds to the nearest
// integer and leaves it in the low bits. Four at a time, step by step: one alone is a chain of
// dependent operations that leaves the processor waiting.
template <bool kClamp, int N>
HWY_INLINE void exp2(V (&x)[N]) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  constexpr int kSide = std::min(N, 4);
  static_assert(N % kSide == 0);
  const V magic = hn::Set(d, 12582912.0f);
  HWY_UNROLL(2)
  for (int first = 0; first < N; first += kSide) {
    V shifted[kSide], p[kSide];
    V* HWY_RESTRICT y = x + first;
    if (kClamp) {
      for (int i = 0; i < kSide; ++i) y[i] = hn::Max(y[i], hn::Set(d, -126.0f));
    }
    const auto multiply_add = [&p, y, d](float term) HWY_ATTR {
      for (int i = 0; i < kSide; ++i) p[i] = hn::MulAdd(p[i], y[i], hn::Set(d, term));
    };
    for (int i = 0; i < kSide; ++i) shifted[i] = hn::Add(y[i], magic);
    for (int i = 0; i < kSide; ++i) y[i] = hn::Sub(y[i], hn::Sub(shifted[i], magic));
    for (int i = 0; i < kSide; ++i) p[i] = hn::Set(d, 0.0013276472f);
    multiply_add(0.0096755415f);
    multiply_add(0.055507133f);
    multiply_add(0.2402212f);
    multiply_add(0.69314697f);
    multiply_add(1.0000001f);
    for (int i = 0; i < kSide; ++i) {
      const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted[i]));
      y[i] = hn::BitCast(d, hn::Add(hn::BitCast(di, p[i]), exponent));
    }
  }
}
template <bool kClamp>
HWY_INLINE V exp2(V x) {
  V one[1] = {x};
  exp2<kClamp>(one);
  return one[0];
}

// sums[lane] += v[lane], in double.
HWY_INLINE void add_to(double* sums, V v) {
  const D d;
  HWY_ALIGN float values[hn::MaxLanes(D())];
  hn::Store(v, d, values);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) sums[lane] += values[lane];
}

int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

void PackRows(const float* h, int64_t rows, int64_t width, int64_t packed_width, float scale,
              float* packed) {
  const int64_t lanes = Lanes();
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

// y[i] = the sum of the lanes of x[i], for as many vectors as there are lanes.
template <int kLanes>
HWY_INLINE V lane_sums(const V (&x)[kLanes]) {
  HWY_ALIGN float sums[kLanes];
  for (int i = 0; i < kLanes; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(D(), x[i]));
  return hn::Load(D(), sums);
}

#if HWY_TARGET != HWY_SCALAR
// In each block of four lanes: the sums of x[0] to x[3] over that block.
HWY_INLINE V block_sums(const V* x) {
  const D d;
  const hn::RepartitionToWide<D> pairs;
  const V low = hn::Add(hn::InterleaveLower(d, x[0], x[1]), hn::InterleaveUpper(d, x[0], x[1]));
  const V high = hn::Add(hn::InterleaveLower(d, x[2], x[3]), hn::InterleaveUpper(d, x[2], x[3]));
  const auto wide_low = hn::BitCast(pairs, low), wide_high = hn::BitCast(pairs, high);
  return hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, wide_low, wide_high)),
                 hn::BitCast(d, hn::InterleaveUpper(pairs, wide_low, wide_high)));
}
template <>
HWY_INLINE V lane_sums<4>(const V (&x)[4]) {
  return block_sums(x);
}
template <>
HWY_INLINE V lane_sums<8>(const V (&x)[8]) {
  const V low = block_sums(x), high = block_sums(x + 4);
  return hn::Add(hn::ConcatLowerLower(D(), high, low), hn::ConcatUpperUpper(D(), high, low));
}
#endif

// x[r] = the values of the chunk at `from`.
template <int R>
HWY_INLINE void load(const float* HWY_RESTRICT from, V (&x)[R]) {
  const D d;
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) x[r] = hn::Load(d, from + r * static_cast<int>(hn::MaxLanes(D())));
}
template <int R>
HWY_INLINE void store(const V (&x)[R], float* HWY_RESTRICT to) {
  const D d;
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) hn::Store(x[r], d, to + r * static_cast<int>(hn::MaxLanes(D())));
}

template <class Codes, class Chunk>
void RowSumsOf(const CodeView& view, const float* group, int64_t tile_begin, int64_t tile_end,
               bool bounded, float* max, double* sum, float* expected) {
  constexpr int R = Chunk::kCodes;
  const D d;
  const int64_t lanes = Lanes();
  const int64_t packed_size = view.packed_width() * lanes;
  Codes codes(view);
  Buffer buffer = allocate<float>(view.tile * lanes);
  float* HWY_RESTRICT work = buffer.get();
  V top = hn::Set(d, bounded ? 0.0f : -1e30f);
  std::fill(sum, sum + lanes, 0.0);
  if (expected) std::fill(expected, expected + packed_size, 0.0f);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    codes.select(tile);
    codes.spread(group, work);
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
  hn::StoreU(top, d, max);
}

// Calls take(j, logits of code j) for the codes of a tile in order. `work` has room for a tile.
template <class Chunk, class Codes, class Take>
HWY_INLINE void each_logit(Codes& codes, const CodeView& view, const float* group, int64_t tile,
                           float* HWY_RESTRICT work, Take take) {
  constexpr int R = Chunk::kCodes;
  codes.select(tile);
  codes.spread(group, work);
  for (int64_t j = 0; j < view.tile; j += R) {
    V x[R];
    load<R>(work + j * Lanes(), x);
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
  Buffer buffer = allocate<float>(view.tile * Lanes());
  V best = hn::Set(d, -1e30f);
  auto index = hn::Zero(di);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t first = tile * view.tile;
    const auto take = [&best, &index, &view, first, d, di](int64_t j, V s) HWY_ATTR {
      if (first + j >= view.codes) return;
      const auto better = hn::Gt(s, best);
      best = hn::IfThenElse(better, s, best);
      const auto here = hn::Set(di, static_cast<int32_t>(first + j));
      index = hn::IfThenElse(hn::RebindMask(di, better), here, index);
    };
    each_logit<Chunk>(codes, view, group, tile, buffer.get(), take);
  }
  hn::StoreU(best, d, logit);
  hn::StoreU(index, di, code);
}

template <class Codes, class Chunk>
void TileLogitsOf(const CodeView& view, const float* group, int64_t tile, float* logits) {
  const D d;
  const int64_t lanes = Lanes();
  Codes codes(view);
  Buffer buffer = allocate<float>(view.tile * lanes);
  each_logit<Chunk>(codes, view, group, tile, buffer.get(),
                    [=](int64_t j, V s) HWY_ATTR { hn::StoreU(s, d, logits + j * lanes); });
}

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
        work_(allocate<float>(2 * groups_ * stride_)),
        probs_(allocate<float>(2 * groups_ * kBlock * kLanes)),
        extra_(allocate<float>(2 * groups_ * kBlock * kLanes)),
        sums_(allocate<float>(kSums * 2 * groups_ * kLanes)) {
    clear_sums();
  }
  ~LossPass() { flush_sums(); }

  void run(int64_t tile) {
    codes_.select(tile);
    for (int v = 0; v < 2; ++v) {
      for (int64_t g = 0; g < groups_; ++g)
        codes_.spread(job_.packed[v] + g * group_size_, work(v, g));
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
      }
      for (int v = 0; v < 2; ++v) prior(v, j, first_code + j, count);
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
  enum Sum { kCross, kAlong, kSums };
  // Sums over codes are kept in fp32 for about so many codes, then added to those in double.
  static constexpr int64_t kFlush = 1024;

  float* work(int v, int64_t g) { return work_.get() + (v * groups_ + g) * stride_; }
  float* probs(int v, int64_t g) { return probs_.get() + (v * groups_ + g) * kBlock * kLanes; }
  float* extra(int v, int64_t g) { return extra_.get() + (v * groups_ + g) * kBlock * kLanes; }
  float* sum(Sum which, int v, int64_t g) {
    return sums_.get() + ((which * 2 + v) * groups_ + g) * kLanes;
  }

  void clear_sums() { std::fill(sums_.get(), sums_.get() + kSums * 2 * groups_ * kLanes, 0.0f); }

  void flush_sums() {
    for (int v = 0; v < 2; ++v) {
      for (int64_t i = 0; i < groups_ * kLanes; ++i) {
        job_.cross[v][i] += sum(kCross, v, 0)[i];
        job_.along[v][i] += sum(kAlong, v, 0)[i];
      }
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

  // The prior terms of the block, and pull_ = d(loss)/d(p_ij) through the mean of code j. For the
  // reverse form without its constant +1, which the softmax cancels.
  void prior(int v, int64_t j, int64_t code, int count) {
    const D d;
    const float weight = job_.prior_weight[v] / static_cast<float>(job_.total_rows);
    const bool reverse = job_.prior_form == PriorForm::kReverse;
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
      if (reverse) {
        slope = hn::Log(d, hn::Div(safe, q));
        term = hn::Mul(m, slope);
      } else {
        slope = hn::Neg(hn::Div(q, safe));
        term = hn::Neg(hn::Mul(q, hn::Log(d, safe)));
        tiny = tiny || !hn::AllFalse(d, hn::And(inside, hn::Ne(m, safe)));
      }
      hn::Store(hn::Mul(hn::Set(d, weight), slope), d, pull_[v] + first);
      total = hn::Add(total, hn::IfThenElseZero(inside, term));
    }
    job_.prior_value[v] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
    has_extra_[v] = tiny && !job_.mean_given;
    if (has_extra_[v]) underflows(v, j, code, count);
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
  // (`kExtra` at compile time: a test in the loop costs a tenth of the pass):
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
      V total[2] = {hn::Load(d, sum(kCross, v, g)),
                    hn::Zero(d)};  // two, not to wait for each other
      V along = hn::Load(d, sum(kAlong, v, g));
      for (int first = 0; first < count; first += R) {
        float* HWY_RESTRICT other = work(1 - v, g) + (j + first) * kLanes;
        const float* HWY_RESTRICT p = probs(v, g) + first * kLanes;
        const float* HWY_RESTRICT pull = pull_[v] + first;
        V x[R];
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) {
          const V pr = hn::Load(d, p + r * kLanes), logit = hn::Load(d, other + r * kLanes);
          total[r % 2] = hn::MulAdd(pr, logit, total[r % 2]);
          x[r] = hn::Mul(pr, hn::MulAdd(cross, logit, hn::Set(d, pull[r])));
        }
        if constexpr (kExtra) {
          for (int r = 0; r < R; ++r)
            x[r] = hn::Add(x[r], hn::Load(d, extra(v, g) + (first + r) * kLanes));
        }
        Chunk::transform(x);
        along = hn::Add(along, Chunk::sum(x));
        store<R>(x, other);
      }
      hn::Store(hn::Add(total[0], total[1]), d, sum(kCross, v, g));
      hn::Store(along, d, sum(kAlong, v, g));
    }
  }

  LossJob& job_;
  Codes codes_;
  const int64_t groups_, tile_, group_size_, stride_;
  Buffer work_;   // [view][group][tile][lanes], a little apart: logits, then weights
  Buffer probs_;  // [view][group][block][lanes]
  Buffer extra_;  // [view][group][block][lanes], used when has_extra_
  Buffer sums_;   // [Sum][view][group][lanes]
  int64_t summed_codes_ = 0;
  HWY_ALIGN float mean_[2][kBlock] = {};
  HWY_ALIGN float pull_[2][kBlock] = {};
  bool has_extra_[2] = {};
};

template <class Codes, class Chunk>
void LossTilesOf(LossJob& job, int64_t tile_begin, int64_t tile_end) {
  LossPass<Codes, Chunk> pass(job);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) pass.run(tile);
}

// The kind of dictionary and the size of its chunks are chosen here, outside every loop.
#define CPL_BY_KIND(view, function, ...)                            \
  if ((view).kind == CodeKind::kRademacher)                         \
    return function<RademacherTiles, Chunk<8, false>>(__VA_ARGS__); \
  switch (chunk_levels((view).base, (view).tile)) {                 \
    case 3:                                                         \
      return function<HadamardTiles, Chunk<8, true>>(__VA_ARGS__);  \
    case 2:                                                         \
      return function<HadamardTiles, Chunk<4, true>>(__VA_ARGS__);  \
    case 1:                                                         \
      return function<HadamardTiles, Chunk<2, true>>(__VA_ARGS__);  \
    default:                                                        \
      return function<HadamardTiles, Chunk<1, true>>(__VA_ARGS__);  \
  }

void RowSums(const CodeView& view, const float* group, int64_t begin, int64_t end, bool bounded,
             float* max, double* sum, float* expected) {
  CPL_BY_KIND(view, RowSumsOf, view, group, begin, end, bounded, max, sum, expected);
}

void NearestCodes(const CodeView& view, const float* group, int64_t begin, int64_t end,
                  int32_t* code, float* logit) {
  CPL_BY_KIND(view, NearestCodesOf, view, group, begin, end, code, logit);
}

void TileLogits(const CodeView& view, const float* group, int64_t tile, float* logits) {
  CPL_BY_KIND(view, TileLogitsOf, view, group, tile, logits);
}

void LossTiles(LossJob& job, int64_t begin, int64_t end) {
  CPL_BY_KIND(job.codes, LossTilesOf, job, begin, end);
}

}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(Lanes);
HWY_EXPORT(PackRows);
HWY_EXPORT(RowSums);
HWY_EXPORT(NearestCodes);
HWY_EXPORT(TileLogits);
HWY_EXPORT(LossTiles);

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
  HWY_DYNAMIC_DISPATCH(RowSums)(codes, group, tile_begin, tile_end, bounded, max, sum, expected);
}

void nearest_codes(const CodeView& codes, const float* group, std::int64_t tile_begin,
                   std::int64_t tile_end, std::int32_t* code, float* logit) {
  HWY_DYNAMIC_DISPATCH(NearestCodes)(codes, group, tile_begin, tile_end, code, logit);
}

void tile_logits(const CodeView& codes, const float* group, std::int64_t tile, float* logits) {
  HWY_DYNAMIC_DISPATCH(TileLogits)(codes, group, tile, logits);
}

void loss_tiles(LossJob& job, std::int64_t tile_begin, std::int64_t tile_end) {
  HWY_DYNAMIC_DISPATCH(LossTiles)(job, tile_begin, tile_end);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
