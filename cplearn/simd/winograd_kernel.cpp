// Compiled once per instruction set by Highway.

#include "cplearn/simd/winograd_kernel.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "cplearn/simd/fixed_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/winograd_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#ifndef CPLEARN_WINOGRAD_MATRICES
#define CPLEARN_WINOGRAD_MATRICES
namespace cpl {
namespace {

template <int rows, int columns>
struct Matrix {
  static constexpr int kRows = rows;
  static constexpr int kColumns = columns;
  double at[rows][columns];

  constexpr Matrix<columns, rows> transposed() const {
    Matrix<columns, rows> result{};
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) result.at[j][i] = at[i][j];
    }
    return result;
  }
};

// F(4, 3) by Cook and Toom with the points 0, 1, -1, 1/2, -2 and infinity, which lose fewer digits
// than the usual 0, +-1, +-2 (Barabasz et al., ACM TOMS 2020).
struct Same {
  static constexpr int kOutputs = 4;
  static constexpr Matrix<6, 6> kBT = {{{1, -1.5, -2, 1.5, 1, 0},
                                        {0, -1, 0.5, 2.5, 1, 0},
                                        {0, 1, -2.5, 0.5, 1, 0},
                                        {0, -2, -1, 2, 1, 0},
                                        {0, 0.5, -1, -0.5, 1, 0},
                                        {0, 1, -1.5, -2, 1.5, 1}}};
  static constexpr Matrix<6, 3> kG = {{{1, 0, 0},
                                       {1 / 3., 1 / 3., 1 / 3.},
                                       {-1 / 3., 1 / 3., -1 / 3.},
                                       {-16 / 15., -8 / 15., -4 / 15.},
                                       {1 / 15., -2 / 15., 4 / 15.},
                                       {0, 0, 1}}};
  static constexpr Matrix<4, 6> kAT = {{{1, 1, 1, 1, 1, 0},
                                        {0, 1, -1, 0.5, -2, 0},
                                        {0, 1, 1, 0.25, 4, 0},
                                        {0, 1, -1, 0.125, -8, 1}}};
};

// With b the means of neighbours, an average-pooled output is k0 b0 + k1 b1 + k2 b2 and the next
// one k0 b2 + k1 b3 + k2 b4. The five products: (b0-b2) k0, b2 (k0+k2), (b4-b2) k2, b1 k1, b3 k1.
struct Pooled {
  static constexpr int kOutputs = 2;
  static constexpr Matrix<5, 6> kBT = {{{0.5, 0.5, -0.5, -0.5, 0, 0},
                                        {0, 0, 0.5, 0.5, 0, 0},
                                        {0, 0, -0.5, -0.5, 0.5, 0.5},
                                        {0, 0.5, 0.5, 0, 0, 0},
                                        {0, 0, 0, 0.5, 0.5, 0}}};
  static constexpr Matrix<5, 3> kG = {{{1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}}};
  static constexpr Matrix<2, 5> kAT = {{{1, 1, 0, 1, 0}, {0, 1, 1, 0, 1}}};
};

// The matrices that act from both sides. A window is kRows or kColumns wide, begins at
// tile * kStride + kOffset, and windows overlap where it is wider than the stride.
template <class Kind>
struct Input {
  static constexpr auto kMatrix = Kind::kBT;
  static constexpr int kStride = 4, kOffset = -1;
};
template <class Kind>
struct InputAdjoint {
  static constexpr auto kMatrix = Kind::kBT.transposed();
  static constexpr int kStride = 4, kOffset = -1;
};
template <class Kind>
struct Output {
  static constexpr auto kMatrix = Kind::kAT;
  static constexpr int kStride = Kind::kOutputs, kOffset = 0;
};
template <class Kind>
struct OutputAdjoint {
  static constexpr auto kMatrix = Kind::kAT.transposed();
  static constexpr int kStride = Kind::kOutputs, kOffset = 0;
};

template <class Kind>
struct Kernel {
  static constexpr auto kMatrix = Kind::kG;
  static constexpr int kStride = 3, kOffset = 0;
};
template <class Kind>
struct KernelAdjoint {
  static constexpr auto kMatrix = Kind::kG.transposed();
  static constexpr int kStride = 3, kOffset = 0;
};

// Where the elements of a window lie in a map; those outside lie in `outside`, a row of channels.
template <class Stage, int size, class T>
void locate(const WinogradJob<T>& job, std::int64_t image, std::int64_t i, std::int64_t j,
            T* outside, T* (&places)[size * size]) {
  T* const map = job.map + image * job.height * job.width * job.channels;
  for (int a = 0; a < size; ++a) {
    const std::int64_t row = i * Stage::kStride + Stage::kOffset + a;
    for (int b = 0; b < size; ++b) {
      const std::int64_t column = j * Stage::kStride + Stage::kOffset + b;
      const bool inside = row >= 0 && row < job.height && column >= 0 && column < job.width;
      places[a * size + b] = inside ? map + (row * job.width + column) * job.channels : outside;
    }
  }
}

}  // namespace
}  // namespace cpl
#endif  // CPLEARN_WINOGRAD_MATRICES

HWY_BEFORE_NAMESPACE();
namespace cpl::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// sum + coefficient * x, with the cheap instruction for 1 and -1 and none for 0.
template <class Stage, int row, int column, class D, class V>
HWY_INLINE V add_term(D d, V sum, V x) {
  constexpr double c = Stage::kMatrix.at[row][column];
  if constexpr (c == 0) return sum;
  if constexpr (c == 1) return hn::Add(sum, x);
  if constexpr (c == -1) return hn::Sub(sum, x);
  return hn::MulAdd(hn::Set(d, static_cast<hn::TFromD<D>>(c)), x, sum);
}

// One row of the matrix times x[0], x[stride], x[2 stride], ...
template <class Stage, int row, int stride, class D, class V, std::size_t... columns>
HWY_INLINE V dot(D d, const V* x, std::index_sequence<columns...>) {
  V sum = hn::Zero(d);
  ((sum = add_term<Stage, row, columns>(d, sum, x[columns * stride])), ...);
  return sum;
}

// y[0], y[stride_y], ... = matrix times x[0], x[stride_x], ...
template <class Stage, int stride_x, int stride_y, class D, class V, std::size_t... rows>
HWY_INLINE void multiply(D d, const V* x, V* y, std::index_sequence<rows...>) {
  constexpr auto columns = std::make_index_sequence<Stage::kMatrix.kColumns>();
  ((y[rows * stride_y] = dot<Stage, rows, stride_x>(d, x, columns)), ...);
}

// y = matrix x matrix^T
template <class Stage, class D, class V>
HWY_INLINE void multiply_both(D d, const V* x, V* y) {
  constexpr int kRows = Stage::kMatrix.kRows, kColumns = Stage::kMatrix.kColumns;
  constexpr auto rows = std::make_index_sequence<kRows>();
  V half[kRows * kColumns];
  for (int j = 0; j < kColumns; ++j) {
    multiply<Stage, kColumns, kColumns>(d, x + j, half + j, rows);
  }
  for (int i = 0; i < kRows; ++i)
    multiply<Stage, 1, 1>(d, half + i * kColumns, y + i * kRows, rows);
}

template <class Stage>
constexpr std::int64_t windows(std::int64_t length) {
  return (length + Stage::kStride - 1) / Stage::kStride;
}

// Elements from one point to the next.
template <class Stage, class T>
std::int64_t point_step(const WinogradJob<T>& job) {
  return job.images * windows<Stage>(job.height) * windows<Stage>(job.width) * job.channels;
}

// Calls body(tile, image, i, j) for every window.
template <class Stage, class T, class Body>
HWY_INLINE void for_tiles(const WinogradJob<T>& job, const Body& body) {
  const std::int64_t rows = windows<Stage>(job.height), columns = windows<Stage>(job.width);
  std::int64_t tile = 0;
  for (std::int64_t image = 0; image < job.images; ++image) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) body(tile++, image, i, j);
    }
  }
}

// Map -> points.
template <class Stage, bool activated, class T>
void gather(const WinogradJob<T>& job) {
  constexpr int kPoints = Stage::kMatrix.kRows, kWindow = Stage::kMatrix.kColumns;
  const hn::CappedTag<T, kWinogradChannels> d;
  using V = hn::Vec<decltype(d)>;
  const auto slope = hn::Set(d, job.slope);
  const std::int64_t step = point_step<Stage>(job);
  std::vector<T> zeros(job.end);
  for_tiles<Stage>(job, [&](std::int64_t tile, std::int64_t image, std::int64_t i, std::int64_t j) {
    T* places[kWindow * kWindow];
    locate<Stage, kWindow>(job, image, i, j, zeros.data(), places);
    T* const points = job.points + tile * job.channels;
    for (std::int64_t c = job.begin; c < job.end; c += static_cast<std::int64_t>(hn::Lanes(d))) {
      V x[kWindow * kWindow], y[kPoints * kPoints];
      for (int k = 0; k < kWindow * kWindow; ++k) {
        x[k] = hn::LoadU(d, places[k] + c);
        if constexpr (activated) {
          x[k] = hn::IfThenElse(hn::Gt(x[k], hn::Zero(d)), x[k], hn::Mul(x[k], slope));
        }
      }
      multiply_both<Stage>(d, x, y);
      for (int k = 0; k < kPoints * kPoints; ++k) hn::StoreU(y[k], d, points + k * step + c);
    }
  });
}

// Points -> map, added to what is there (overlapping) or to the bias.
template <class Stage, bool overlapping, class T>
void scatter(const WinogradJob<T>& job) {
  constexpr int kWindow = Stage::kMatrix.kRows, kPoints = Stage::kMatrix.kColumns;
  const hn::CappedTag<T, kWinogradChannels> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t step = point_step<Stage>(job);
  std::vector<T> discarded(job.end), zeros(job.end);
  const T* const bias = job.bias ? job.bias : zeros.data();
  for_tiles<Stage>(job, [&](std::int64_t tile, std::int64_t image, std::int64_t i, std::int64_t j) {
    T* places[kWindow * kWindow];
    locate<Stage, kWindow>(job, image, i, j, discarded.data(), places);
    const T* const points = job.points + tile * job.channels;
    for (std::int64_t c = job.begin; c < job.end; c += static_cast<std::int64_t>(hn::Lanes(d))) {
      V x[kPoints * kPoints], y[kWindow * kWindow];
      for (int k = 0; k < kPoints * kPoints; ++k) x[k] = hn::LoadU(d, points + k * step + c);
      multiply_both<Stage>(d, x, y);
      for (int k = 0; k < kWindow * kWindow; ++k) {
        T* const place = places[k] + c;
        hn::StoreU(hn::Add(y[k], hn::LoadU(d, overlapping ? place : bias + c)), d, place);
      }
    }
  });
}

template <class T>
void input(const WinogradJob<T>& job) {
  const bool same = job.kind == Winograd::kSame;
  if (job.slope == 1) {
    same ? gather<Input<Same>, false>(job) : gather<Input<Pooled>, false>(job);
  } else {
    same ? gather<Input<Same>, true>(job) : gather<Input<Pooled>, true>(job);
  }
}

template <class T>
void output(const WinogradJob<T>& job) {
  job.kind == Winograd::kSame ? scatter<Output<Same>, false>(job)
                              : scatter<Output<Pooled>, false>(job);
}

template <class T>
void output_adjoint(const WinogradJob<T>& job) {
  job.kind == Winograd::kSame ? gather<OutputAdjoint<Same>, false>(job)
                              : gather<OutputAdjoint<Pooled>, false>(job);
}

template <class T>
void input_adjoint(const WinogradJob<T>& job) {
  const std::int64_t size = job.height * job.width * job.channels;
  const hn::CappedTag<T, kWinogradChannels> d;
  const auto slope = hn::Set(d, job.slope);
  std::fill(job.map, job.map + job.images * size, T{0});
  job.kind == Winograd::kSame ? scatter<InputAdjoint<Same>, true>(job)
                              : scatter<InputAdjoint<Pooled>, true>(job);
  if (job.slope == 1) return;
  for (std::int64_t i = 0; i < job.images * size; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto g = hn::LoadU(d, job.map + i);
    const auto positive = hn::Gt(hn::LoadU(d, job.input + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(positive, g, hn::Mul(g, slope)), d, job.map + i);
  }
}

template <class T>
void kernel(const WinogradJob<T>& job) {
  job.kind == Winograd::kSame ? gather<Kernel<Same>, false>(job)
                              : gather<Kernel<Pooled>, false>(job);
}

template <class T>
void kernel_adjoint(const WinogradJob<T>& job) {
  job.kind == Winograd::kSame ? scatter<KernelAdjoint<Same>, false>(job)
                              : scatter<KernelAdjoint<Pooled>, false>(job);
}

void input_f(const WinogradJob<float>& job) { input(job); }
void input_d(const WinogradJob<double>& job) { input(job); }
void output_f(const WinogradJob<float>& job) { output(job); }
void output_d(const WinogradJob<double>& job) { output(job); }
void output_adjoint_f(const WinogradJob<float>& job) { output_adjoint(job); }
void output_adjoint_d(const WinogradJob<double>& job) { output_adjoint(job); }
void input_adjoint_f(const WinogradJob<float>& job) { input_adjoint(job); }
void input_adjoint_d(const WinogradJob<double>& job) { input_adjoint(job); }
void kernel_f(const WinogradJob<float>& job) { kernel(job); }
void kernel_d(const WinogradJob<double>& job) { kernel(job); }
void kernel_adjoint_f(const WinogradJob<float>& job) { kernel_adjoint(job); }
void kernel_adjoint_d(const WinogradJob<double>& job) { kernel_adjoint(job); }

}  // namespace
}  // namespace cpl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl {

#define CPLEARN_WINOGRAD_STAGE(stage)                             \
  HWY_EXPORT(stage##_f);                                          \
  HWY_EXPORT(stage##_d);                                          \
  template <>                                                     \
  void winograd_##stage<float>(const WinogradJob<float>& job) {   \
    HWY_DYNAMIC_DISPATCH(stage##_f)(job);                         \
  }                                                               \
  template <>                                                     \
  void winograd_##stage<double>(const WinogradJob<double>& job) { \
    HWY_DYNAMIC_DISPATCH(stage##_d)(job);                         \
  }

CPLEARN_WINOGRAD_STAGE(input)
CPLEARN_WINOGRAD_STAGE(output)
CPLEARN_WINOGRAD_STAGE(output_adjoint)
CPLEARN_WINOGRAD_STAGE(input_adjoint)
CPLEARN_WINOGRAD_STAGE(kernel)
CPLEARN_WINOGRAD_STAGE(kernel_adjoint)
#undef CPLEARN_WINOGRAD_STAGE

}  // namespace cpl
#endif  // HWY_ONCE
