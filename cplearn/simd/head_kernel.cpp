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

// 2^x for -126 <= x <= 127; with `kClamp`, also 2^-126 where x is below. Relative error under 2e-7:
// a degree-5 minimax polynomial on
// [-0.5, 0.5]; adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits.
template <bool kClamp>
HWY_INLINE V exp2(V x) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  if (kClamp) x = hn::Max(x, hn::Set(d, -126.0f));
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(x, magic);
  const V r = hn::Sub(x, hn::Sub(shifted, magic));
  V p = hn::Set(d, 0.0013276472f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0096755415f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.055507133f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.2402212f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.69314697f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0000001f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
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

template <class Codes>
void RowSumsOf(const CodeView& view, const float* group, int64_t tile_begin, int64_t tile_end,
               bool bounded, float* max, double* sum, float* expected) {
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
    const int64_t valid = std::min(view.tile, view.codes - tile * view.tile);
    V total = hn::Zero(d);
    if (bounded && valid == view.tile) {
      codes.forward(group, work, [&total, d, work, lanes](int64_t j, V s) HWY_ATTR {
        const V e = exp2<false>(s);
        total = hn::Add(total, e);
        hn::Store(e, d, work + j * lanes);
      });
    } else {
      codes.forward(group, work,
                    [=](int64_t j, V s) HWY_ATTR { hn::Store(s, d, work + j * lanes); });
      const V old_top = top;
      if (!bounded) {
        for (int64_t j = 0; j < valid; ++j) top = hn::Max(top, hn::Load(d, work + j * lanes));
      }
      if (!hn::AllTrue(d, hn::Eq(old_top, top))) {
        const V shrink = exp2<true>(hn::Sub(old_top, top));
        HWY_ALIGN float factor[hn::MaxLanes(D())];
        hn::Store(shrink, d, factor);
        for (int64_t lane = 0; lane < lanes; ++lane) sum[lane] *= static_cast<double>(factor[lane]);
        for (int64_t i = 0; expected && i < packed_size; i += lanes)
          hn::Store(hn::Mul(hn::Load(d, expected + i), shrink), d, expected + i);
      }
      for (int64_t i = 0; i < valid * lanes; i += lanes) {
        const V e = exp2<true>(hn::Sub(hn::Load(d, work + i), top));
        total = hn::Add(total, e);
        hn::Store(e, d, work + i);
      }
      std::fill(work + valid * lanes, work + view.tile * lanes, 0.0f);
    }
    add_to(sum, total);
    if (expected) codes.adjoint(work, expected);
  }
  hn::StoreU(top, d, max);
}

template <class Codes>
void NearestCodesOf(const CodeView& view, const float* group, int64_t tile_begin, int64_t tile_end,
                    int32_t* code, float* logit) {
  const D d;
  const hn::Rebind<int32_t, D> di;
  const int64_t lanes = Lanes();
  Codes codes(view);
  Buffer buffer = allocate<float>(view.tile * lanes);
  float* HWY_RESTRICT work = buffer.get();
  V best = hn::Set(d, -1e30f);
  auto index = hn::Zero(di);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    codes.select(tile);
    codes.forward(group, work, [=](int64_t j, V s) HWY_ATTR { hn::Store(s, d, work + j * lanes); });
    const int64_t valid = std::min(view.tile, view.codes - tile * view.tile);
    for (int64_t j = 0; j < valid; ++j) {
      const V s = hn::Load(d, work + j * lanes);
      const auto better = hn::Gt(s, best);
      best = hn::IfThenElse(better, s, best);
      const auto here = hn::Set(di, static_cast<int32_t>(tile * view.tile + j));
      index = hn::IfThenElse(hn::RebindMask(di, better), here, index);
    }
  }
  hn::StoreU(best, d, logit);
  hn::StoreU(index, di, code);
}

template <class Codes>
void TileLogitsOf(const CodeView& view, const float* group, int64_t tile, float* logits) {
  const D d;
  const int64_t lanes = Lanes();
  Codes codes(view);
  Buffer buffer = allocate<float>(view.tile * lanes);
  codes.select(tile);
  codes.forward(group, buffer.get(),
                [=](int64_t j, V s) HWY_ATTR { hn::StoreU(s, d, logits + j * lanes); });
}

// One pass over a range of tiles for all rows: probabilities, means, loss sums, gradients.
template <class Codes>
class LossPass {
 public:
  explicit LossPass(LossJob& job)
      : job_(job),
        codes_(job.codes),
        lanes_(Lanes()),
        groups_((job.rows + lanes_ - 1) / lanes_),
        tile_(job.codes.tile),
        tile_size_(tile_ * lanes_),
        group_size_(job.codes.packed_width() * lanes_) {
    for (int v = 0; v < 2; ++v) {
      logits_[v] = allocate<float>(groups_ * tile_size_);
      probs_[v] = allocate<float>(groups_ * tile_size_);
      columns_[v] = allocate<float>(tile_size_);
      pull_[v] = allocate<float>(tile_ + lanes_);
    }
  }

  void run(int64_t tile) {
    first_code_ = tile * tile_;
    valid_ = std::min(tile_, job_.codes.codes - first_code_);
    codes_.select(tile);
    has_tiny_ = false;
    for (int v = 0; v < 2; ++v) {
      if (job_.bounded) {
        probabilities<false>(v);
      } else {
        probabilities<true>(v);
      }
      prior(v);
    }
    for (int64_t g = 0; g < groups_; ++g) {
      if (has_tiny_) {
        rows<true>(g);
      } else {
        rows<false>(g);
      }
      if (job_.gradient) {
        for (int v = 0; v < 2; ++v)
          codes_.adjoint(logits(v, g), job_.weighted[v] + g * group_size_);
      }
    }
  }

 private:
  float* logits(int v, int64_t g) { return logits_[v].get() + g * tile_size_; }
  float* probs(int v, int64_t g) { return probs_[v].get() + g * tile_size_; }

  // logits_, probs_ and columns_ (probabilities summed over groups, lanes still apart) of view v.
  template <bool kClamp>
  void probabilities(int v) {
    const D d;
    const int64_t lanes = lanes_;
    float* HWY_RESTRICT column = columns_[v].get();
    std::fill(column, column + tile_size_, 0.0f);
    for (int64_t g = 0; g < groups_; ++g) {
      float* HWY_RESTRICT s = logits(v, g);
      float* HWY_RESTRICT p = probs(v, g);
      codes_.forward(job_.packed[v] + g * group_size_, s,
                     [=](int64_t j, V sj) HWY_ATTR { hn::Store(sj, d, s + j * lanes); });
      const V log_sum = hn::LoadU(d, job_.log_sum[v] + g * lanes_);
      const int64_t end = valid_ * lanes;
      for (int64_t i = 0; i < end; i += lanes) {
        const V pj = exp2<kClamp>(hn::Sub(hn::Load(d, s + i), log_sum));
        hn::Store(pj, d, p + i);
        hn::Store(hn::Add(hn::Load(d, column + i), pj), d, column + i);
      }
      // Codes that do not exist must add nothing to the adjoint transform.
      std::fill(s + end, s + tile_size_, 0.0f);
    }
  }

  // The mean probability of each code, its prior term, and pull_ = d(loss)/d(p_ij) through the mean
  // of code j. For the reverse form without its constant +1, which the softmax cancels.
  void prior(int v) {
    const D d;
    float* HWY_RESTRICT mean = job_.mean[v] + first_code_;
    float* HWY_RESTRICT pull = pull_[v].get();
    if (!job_.mean_given) {
      const float per_row = 1.0f / static_cast<float>(job_.total_rows);
      for (int64_t j = 0; j < valid_; ++j) {
        const V column = hn::Load(d, columns_[v].get() + j * lanes_);
        mean[j] = per_row * hn::GetLane(hn::SumOfLanes(d, column));
      }
    }
    const V weight = hn::Set(d, job_.prior_weight[v] / static_cast<float>(job_.total_rows));
    const bool reverse = job_.prior_form == PriorForm::kReverse;
    double value = 0;
    bool tiny = false;
    for (int64_t j = 0; j < valid_; j += lanes_) {
      const size_t count = static_cast<size_t>(std::min(lanes_, valid_ - j));
      const auto inside = hn::FirstN(d, count);
      HWY_ALIGN float buffer[hn::MaxLanes(D())];
      std::fill(buffer, buffer + lanes_, 1.0f);
      std::copy(mean + j, mean + j + count, buffer);
      const V m = hn::Load(d, buffer);
      V q = hn::Set(d, 1.0f / static_cast<float>(job_.codes.codes));
      if (job_.prior) {
        std::copy(job_.prior + first_code_ + j, job_.prior + first_code_ + j + count, buffer);
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
        tiny = tiny || (!job_.mean_given && !hn::AllTrue(d, hn::Eq(m, safe)));
      }
      hn::Store(hn::Mul(weight, slope), d, pull + j);
      value +=
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::IfThenElseZero(inside, term))));
    }
    has_tiny_ = has_tiny_ || tiny;
    log_mean_[v].assign(tiny ? static_cast<size_t>(tile_) : 0, 0.0f);
    for (int64_t j = 0; tiny && j < valid_; ++j) {
      if (mean[j] >= kTinyMean) continue;
      const double q =
          job_.prior ? job_.prior[first_code_ + j] : 1.0 / static_cast<double>(job_.codes.codes);
      const double log2_mean = log2_column_mean(v, j);
      log_mean_[v][static_cast<size_t>(j)] = static_cast<float>(log2_mean);
      value -= q * (log2_mean * kLn2 - std::log(static_cast<double>(kTinyMean)));
      pull[j] = static_cast<float>(-q) * hn::GetLane(weight);  // times p / mean, see ratio()
    }
    job_.prior_value[v] += value;
  }

  // log2 of the mean over rows of 2^(s - log_sum), for a column whose sum underflows.
  double log2_column_mean(int v, int64_t j) {
    double top = -1e300;
    for (int64_t row = 0; row < job_.rows; ++row) top = std::max(top, log2_probability(v, row, j));
    double sum = 0;
    for (int64_t row = 0; row < job_.rows; ++row)
      sum += std::exp2(log2_probability(v, row, j) - top);
    return top + std::log2(sum / static_cast<double>(job_.total_rows));
  }

  double log2_probability(int v, int64_t row, int64_t j) {
    const int64_t g = row / lanes_, lane = row % lanes_;
    return static_cast<double>(logits(v, g)[j * lanes_ + lane]) - job_.log_sum[v][row];
  }

  // Row sums of group g, and the gradient with respect to the probabilities and through the
  // logarithms, written over the logits.
  template <bool kTiny>
  void rows(int64_t g) {
    const D d;
    const float per_row = 1.0f / static_cast<float>(job_.total_rows);
    const float ln2 = static_cast<float>(kLn2);
    // u_v = -(cross_weight_v / n) log p_other + (prior_weight_v / n) slope_v; log p_other without
    // its row constant, which the softmax cancels.
    const V cross0 = hn::Set(d, -job_.cross_weight[0] * per_row * ln2);
    const V cross1 = hn::Set(d, -job_.cross_weight[1] * per_row * ln2);
    const V direct0 = hn::Set(d, job_.cross_weight[1] * per_row);
    const V direct1 = hn::Set(d, job_.cross_weight[0] * per_row);
    float* HWY_RESTRICT s0 = logits(0, g);
    float* HWY_RESTRICT s1 = logits(1, g);
    const float* HWY_RESTRICT p0 = probs(0, g);
    const float* HWY_RESTRICT p1 = probs(1, g);
    const float* HWY_RESTRICT pull0 = pull_[0].get();
    const float* HWY_RESTRICT pull1 = pull_[1].get();
    V cross_sum0 = hn::Zero(d), cross_sum1 = hn::Zero(d);
    V self_sum0 = hn::Zero(d), self_sum1 = hn::Zero(d);
    V pull_sum0 = hn::Zero(d), pull_sum1 = hn::Zero(d);
    for (int64_t j = 0, i = 0; j < valid_; ++j, i += lanes_) {
      const V l0 = hn::Load(d, s0 + i), l1 = hn::Load(d, s1 + i);
      const V q0 = hn::Load(d, p0 + i), q1 = hn::Load(d, p1 + i);
      cross_sum0 = hn::MulAdd(q0, l1, cross_sum0);
      cross_sum1 = hn::MulAdd(q1, l0, cross_sum1);
      self_sum0 = hn::MulAdd(q0, l0, self_sum0);
      self_sum1 = hn::MulAdd(q1, l1, self_sum1);
      const V prior0 = hn::Mul(kTiny ? ratio(0, g, j, q0) : q0, hn::Set(d, pull0[j]));
      const V prior1 = hn::Mul(kTiny ? ratio(1, g, j, q1) : q1, hn::Set(d, pull1[j]));
      pull_sum0 = hn::Add(pull_sum0, prior0);
      pull_sum1 = hn::Add(pull_sum1, prior1);
      const V gap = hn::Sub(q0, q1);
      const V g0 = hn::MulAdd(hn::Mul(q0, cross0), l1, hn::MulAdd(direct0, gap, prior0));
      const V g1 = hn::MulAdd(hn::Mul(q1, cross1), l0, hn::NegMulAdd(direct1, gap, prior1));
      hn::Store(g0, d, s0 + i);
      hn::Store(g1, d, s1 + i);
    }
    const int64_t row = g * lanes_;
    add_to(job_.cross[0] + row, cross_sum0);
    add_to(job_.cross[1] + row, cross_sum1);
    add_to(job_.self[0] + row, self_sum0);
    add_to(job_.self[1] + row, self_sum1);
    add_to(job_.pull[0] + row, pull_sum0);
    add_to(job_.pull[1] + row, pull_sum1);
  }

  // p, or p / mean where the mean underflows (then pull_ is without the division).
  V ratio(int v, int64_t g, int64_t j, V p) {
    const D d;
    if (log_mean_[v].empty()) return p;
    const float log_mean = log_mean_[v][static_cast<size_t>(j)];
    if (log_mean == 0) return p;
    const V log_sum = hn::LoadU(d, job_.log_sum[v] + g * lanes_);
    const V log_p = hn::Sub(hn::Load(d, logits(v, g) + j * lanes_), log_sum);
    return exp2<true>(hn::Sub(log_p, hn::Set(d, log_mean)));
  }

  LossJob& job_;
  Codes codes_;
  const int64_t lanes_, groups_, tile_, tile_size_, group_size_;
  int64_t first_code_ = 0, valid_ = 0;
  Buffer logits_[2], probs_[2];  // [groups][tile][lanes]
  Buffer columns_[2];            // [tile][lanes]
  Buffer pull_[2];               // [tile]
  // Forward prior only: log2 of the means that underflow, 0 for the others; empty if there are
  // none.
  std::vector<float> log_mean_[2];
  bool has_tiny_ = false;
};

template <class Codes>
void LossTilesOf(LossJob& job, int64_t tile_begin, int64_t tile_end) {
  LossPass<Codes> pass(job);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) pass.run(tile);
}

// The kind of dictionary is chosen here, outside every loop.
#define CPL_BY_KIND(view, function, ...)                                     \
  ((view).kind == CodeKind::kHadamard ? function<HadamardTiles>(__VA_ARGS__) \
                                      : function<RademacherTiles>(__VA_ARGS__))

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
