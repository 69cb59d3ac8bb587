// Compiled once per instruction set by Highway.

#include "cplearn/simd/token_kernel.h"

#include <cmath>

#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/token_kernel.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kLanes = hn::MaxLanes(D());
static_assert(kTokenPadding % kLanes == 0);

// ---- norms -----------------------------------------------------------------------------------

struct Moments {
  float mean, scale;  // scale: 1 / standard deviation
};

HWY_INLINE Moments moments(const float* HWY_RESTRICT x, std::int64_t width, float epsilon) {
  const D d;
  const float share = 1.0f / static_cast<float>(width);
  V sum[2] = {hn::Zero(d), hn::Zero(d)};
  for (std::int64_t j = 0; j < width; j += 2 * kLanes) {
    for (int i = 0; i < 2; ++i) sum[i] = hn::Add(sum[i], hn::LoadU(d, x + j + i * kLanes));
  }
  const float mean = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[0], sum[1]))) * share;
  sum[0] = sum[1] = hn::Zero(d);
  for (std::int64_t j = 0; j < width; j += 2 * kLanes) {
    for (int i = 0; i < 2; ++i) {
      const V centred = hn::Sub(hn::LoadU(d, x + j + i * kLanes), hn::Set(d, mean));
      sum[i] = hn::MulAdd(centred, centred, sum[i]);
    }
  }
  const float variance = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[0], sum[1]))) * share;
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

void normalise(TokenShape shape, const LayerNorm& norm, ConstRows x, Rows<float> y) {
  const D d;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const float* HWY_RESTRICT from = x[i];
    float* HWY_RESTRICT to = y[i];
    const Moments m = moments(from, shape.width, norm.epsilon);
    const V mean = hn::Set(d, m.mean), scale = hn::Set(d, m.scale);
    for (std::int64_t j = 0; j < shape.width; j += kLanes) {
      const V z = hn::Mul(hn::Sub(hn::LoadU(d, from + j), mean), scale);
      hn::StoreU(hn::MulAdd(z, hn::LoadU(d, norm.weight + j), hn::LoadU(d, norm.bias + j)), d,
                 to + j);
    }
  }
}

// With z the normalised x and g = dy * weight: dx = (g - mean(g) - z mean(g z)) / deviation.
void normalise_backward(TokenShape shape, const LayerNorm& norm, ConstRows x, ConstRows dy,
                        Rows<float> dx, float* HWY_RESTRICT dweight, float* HWY_RESTRICT dbias) {
  const D d;
  const float share = 1.0f / static_cast<float>(shape.width);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const float* HWY_RESTRICT from = x[i];
    const float* HWY_RESTRICT slope = dy[i];
    float* HWY_RESTRICT to = dx[i];
    const Moments m = moments(from, shape.width, norm.epsilon);
    const V mean = hn::Set(d, m.mean), scale = hn::Set(d, m.scale);
    V sum_g = hn::Zero(d), sum_gz = hn::Zero(d);
    for (std::int64_t j = 0; j < shape.width; j += kLanes) {
      const V s = hn::LoadU(d, slope + j);
      const V z = hn::Mul(hn::Sub(hn::LoadU(d, from + j), mean), scale);
      const V g = hn::Mul(s, hn::LoadU(d, norm.weight + j));
      sum_g = hn::Add(sum_g, g);
      sum_gz = hn::MulAdd(g, z, sum_gz);
      hn::StoreU(hn::MulAdd(s, z, hn::LoadU(d, dweight + j)), d, dweight + j);
      hn::StoreU(hn::Add(s, hn::LoadU(d, dbias + j)), d, dbias + j);
    }
    const V mean_g = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum_g)) * share);
    const V mean_gz = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum_gz)) * share);
    for (std::int64_t j = 0; j < shape.width; j += kLanes) {
      const V z = hn::Mul(hn::Sub(hn::LoadU(d, from + j), mean), scale);
      const V g = hn::Mul(hn::LoadU(d, slope + j), hn::LoadU(d, norm.weight + j));
      const V change = hn::NegMulAdd(z, mean_gz, hn::Sub(g, mean_g));
      hn::StoreU(hn::MulAdd(change, scale, hn::LoadU(d, to + j)), d, to + j);
    }
  }
}

// ---- GELU ------------------------------------------------------------------------------------

constexpr int kSide = kTokenPadding / kLanes < 4 ? kTokenPadding / kLanes : 4;  // vectors at a time

// Phi(z) and exp(-z^2/2). The tail Phi(-|z|) is exp(-z^2/2) times a polynomial in 1 / (1 + 0.23
// |z|), fitted for |z| < 13.2 to a relative error of 5e-8; beyond, both are 0 for a float.
HWY_INLINE void normal(const V (&z)[kSide], V (&phi)[kSide], V (&bell)[kSide]) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  V s[kSide], p[kSide];
  for (int i = 0; i < kSide; ++i) {
    bell[i] = hn::Mul(hn::Mul(z[i], z[i]), hn::Set(d, -0.72134752f));  // log2(e) / 2
    s[i] = hn::Div(one, hn::MulAdd(hn::Abs(z[i]), hn::Set(d, 0.23f), one));
    p[i] = hn::Set(d, -7.839725e-02f);
  }
  const auto multiply_add = [&p, &s, d](float term) HWY_ATTR {
    for (int i = 0; i < kSide; ++i) p[i] = hn::MulAdd(p[i], s[i], hn::Set(d, term));
  };
  multiply_add(2.9005724e-01f);
  multiply_add(-2.7735114e-01f);
  multiply_add(3.0053255e-01f);
  multiply_add(-3.222645e-02f);
  multiply_add(1.1919548e-01f);
  multiply_add(8.58517e-02f);
  multiply_add(9.236475e-02f);
  multiply_add(-2.6865288e-05f);
  exp2<true>(bell);
  for (int i = 0; i < kSide; ++i) {
    const V tail = hn::Mul(p[i], bell[i]);
    phi[i] = hn::IfThenElse(hn::Lt(z[i], hn::Zero(d)), tail, hn::Sub(one, tail));
  }
}

void gelu(TokenShape shape, ConstRows x, const float* HWY_RESTRICT bias, Rows<float> y) {
  const D d;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const float* HWY_RESTRICT from = x[r];
    float* HWY_RESTRICT to = y[r];
    for (std::int64_t j = 0; j < shape.width; j += kSide * kLanes) {
      V z[kSide], phi[kSide], bell[kSide];
      for (int i = 0; i < kSide; ++i)
        z[i] = hn::Add(hn::LoadU(d, from + j + i * kLanes), hn::LoadU(d, bias + j + i * kLanes));
      normal(z, phi, bell);
      for (int i = 0; i < kSide; ++i) hn::StoreU(hn::Mul(z[i], phi[i]), d, to + j + i * kLanes);
    }
  }
}

// The derivative is Phi(z) + z phi(z), with the density phi.
void gelu_backward(TokenShape shape, ConstRows x, const float* HWY_RESTRICT bias, Rows<float> y,
                   Rows<float> dy) {
  const D d;
  const V density = hn::Set(d, 0.39894228f);  // 1 / sqrt(2 pi)
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const float* HWY_RESTRICT from = x[r];
    float* HWY_RESTRICT to = y[r];
    float* HWY_RESTRICT slope = dy[r];
    for (std::int64_t j = 0; j < shape.width; j += kSide * kLanes) {
      V z[kSide], phi[kSide], bell[kSide];
      for (int i = 0; i < kSide; ++i)
        z[i] = hn::Add(hn::LoadU(d, from + j + i * kLanes), hn::LoadU(d, bias + j + i * kLanes));
      normal(z, phi, bell);
      for (int i = 0; i < kSide; ++i) {
        const V derivative = hn::MulAdd(hn::Mul(z[i], density), bell[i], phi[i]);
        hn::StoreU(hn::Mul(z[i], phi[i]), d, to + j + i * kLanes);
        float* const place = slope + j + i * kLanes;
        hn::StoreU(hn::Mul(derivative, hn::LoadU(d, place)), d, place);
      }
    }
  }
}

// ---- sums ------------------------------------------------------------------------------------

void add_branch(TokenShape shape, ConstRows x, ConstRows branch, const float* HWY_RESTRICT bias,
                const float* scale, Rows<float> y) {
  const D d;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const float* from = x[i];
    const float* HWY_RESTRICT added = branch[i];
    float* to = y[i];
    const V factor = hn::Set(d, scale ? scale[i] : 1.0f);
    for (std::int64_t j = 0; j < shape.width; j += kLanes) {
      const V value = hn::Add(hn::LoadU(d, added + j), hn::LoadU(d, bias + j));
      hn::StoreU(hn::MulAdd(value, factor, hn::LoadU(d, from + j)), d, to + j);
    }
  }
}

void scale_rows(TokenShape shape, ConstRows x, const float* scale, Rows<float> y,
                float* HWY_RESTRICT sums) {
  const D d;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const float* HWY_RESTRICT from = x[i];
    float* HWY_RESTRICT to = y[i];
    const V factor = hn::Set(d, scale ? scale[i] : 1.0f);
    for (std::int64_t j = 0; j < shape.width; j += kLanes) {
      const V value = hn::Mul(hn::LoadU(d, from + j), factor);
      hn::StoreU(value, d, to + j);
      hn::StoreU(hn::Add(value, hn::LoadU(d, sums + j)), d, sums + j);
    }
  }
}

void add_rows(TokenShape shape, ConstRows x, float* HWY_RESTRICT sums) {
  const D d;
  for (std::int64_t j = 0; j < shape.width; j += kLanes) {
    V sum = hn::LoadU(d, sums + j);
    for (std::int64_t i = 0; i < shape.rows; ++i) sum = hn::Add(sum, hn::LoadU(d, x[i] + j));
    hn::StoreU(sum, d, sums + j);
  }
}

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

HWY_EXPORT(normalise);
HWY_EXPORT(normalise_backward);
HWY_EXPORT(gelu);
HWY_EXPORT(gelu_backward);
HWY_EXPORT(add_branch);
HWY_EXPORT(scale_rows);
HWY_EXPORT(add_rows);

void layer_norm(TokenShape shape, const LayerNorm& norm, ConstRows x, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(normalise)(shape, norm, x, y);
}

void layer_norm_backward(TokenShape shape, const LayerNorm& norm, ConstRows x, ConstRows dy,
                         Rows<float> dx, float* dweight, float* dbias) {
  HWY_DYNAMIC_DISPATCH(normalise_backward)(shape, norm, x, dy, dx, dweight, dbias);
}

void gelu(TokenShape shape, ConstRows x, const float* bias, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(gelu)(shape, x, bias, y);
}

void gelu_backward(TokenShape shape, ConstRows x, const float* bias, Rows<float> y,
                   Rows<float> dy) {
  HWY_DYNAMIC_DISPATCH(gelu_backward)(shape, x, bias, y, dy);
}

void add_branch(TokenShape shape, ConstRows x, ConstRows branch, const float* bias,
                const float* scale, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(add_branch)(shape, x, branch, bias, scale, y);
}

void scale_rows(TokenShape shape, ConstRows x, const float* scale, Rows<float> y, float* sums) {
  HWY_DYNAMIC_DISPATCH(scale_rows)(shape, x, scale, y, sums);
}

void add_rows(TokenShape shape, ConstRows x, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows)(shape, x, sums);
}

}  // namespace cpl::simd
#endif  // HWY_ONCE
