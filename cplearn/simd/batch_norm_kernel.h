#pragma once
// The passes of batch normalisation over rows of channels, on one core, without torch. Rows are
// pixels, n x height x width of them. What they are for: nn/backbone/batch_norm.h.

#include <cstdint>

#include "cplearn/simd/channels.h"

namespace cpl::simd {

template <class T>  // float or double
struct NormJob {
  std::int64_t rows, channels;
  const T* x;  // [rows][channels], and so are all maps
  bool relu = false;
  // Forward. [channels] each:
  const T* scale = nullptr;
  const T* offset = nullptr;
  const T* residual = nullptr;  // added before the activation; null for none
  T* y = nullptr;
  // Backward. The gradient of y, and y itself for the derivative of the activation (`relu`).
  const T* dy = nullptr;
  const T* result = nullptr;
  const T* centre = nullptr;           // [channels]
  const T* gradient_factor = nullptr;  // [channels]
  const T* input_factor = nullptr;     // [channels]
  const T* constant = nullptr;         // [channels]
  T* dx = nullptr;
  T* dresidual = nullptr;  // null for none
};

// Adds sum x' and sum x'^2 to `sums` [2][channels], x' = x - centre.
template <class T>
void norm_sums(const NormJob<T>& job, double* sums);

// y = x * scale + offset (+ residual), activated.
template <class T>
void norm_apply(const NormJob<T>& job);

// Adds sum g and sum g x' to `sums` [2][channels]; g is dy where the activation let it through.
template <class T>
void norm_gradient_sums(const NormJob<T>& job, double* sums);

// The same for a ReLU whose result nobody kept: dx = g, the part of dx that it let through
// (x * scale + offset > 0), and the sums of that.
template <class T>
void norm_relu_gradient_sums(const NormJob<T>& job, double* sums);

// dx = g * gradient_factor + x * input_factor + constant; dresidual = g.
template <class T>
void norm_gradient(const NormJob<T>& job);

}  // namespace cpl::simd
