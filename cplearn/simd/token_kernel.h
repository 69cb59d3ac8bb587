#pragma once
// What a transformer does to each token alone, between its matrix products: norms, GELU, sums. On
// one core, a few rows at a time that the caller keeps in the cache.

#include <cstdint>

namespace cpl::simd {

// The width of rows is a multiple of this.
constexpr std::int64_t kTokenPadding = 32;

// A matrix whose rows begin `step` elements apart.
template <class T>
struct Rows {
  T* data;
  std::int64_t step;

  T* operator[](std::int64_t row) const { return data + row * step; }
  operator Rows<const T>() const { return {data, step}; }
};
using ConstRows = Rows<const float>;

struct TokenShape {
  std::int64_t rows, width;
};

// The norm of Ba et al., "Layer normalization", 2016: (x - mean) / sqrt(variance + epsilon), times
// weight [width], plus bias [width].
struct LayerNorm {
  const float* weight;
  const float* bias;
  float epsilon;
};

void layer_norm(TokenShape shape, const LayerNorm& norm, ConstRows x, Rows<float> y);

// From dy, the gradient of y, computes the gradients of x, weight and bias, and adds them to
// dx [rows][width], dweight [width] and dbias [width].
void layer_norm_backward(TokenShape shape, const LayerNorm& norm, ConstRows x, ConstRows dy,
                         Rows<float> dx, float* dweight, float* dbias);

// y = GELU(x + bias), exact: z Phi(z) with the distribution function of the normal distribution.
void gelu(TokenShape shape, ConstRows x, const float* bias, Rows<float> y);

// Computes y again, and turns dy, the gradient of y, into the gradient of x.
void gelu_backward(TokenShape shape, ConstRows x, const float* bias, Rows<float> y, Rows<float> dy);

// y = x + scale (branch + bias), with a scale per row or, without any, 1.
void add_branch(TokenShape shape, ConstRows x, ConstRows branch, const float* bias,
                const float* scale, Rows<float> y);

// y = scale x. Adds y's sums over rows to sums [width].
void scale_rows(TokenShape shape, ConstRows x, const float* scale, Rows<float> y, float* sums);

// Adds x's sums over rows to sums [width].
void add_rows(TokenShape shape, ConstRows x, float* sums);

}  // namespace cpl::simd
