// Compiled once per instruction set by Highway.

#include "cplearn/simd/winograd_kernel.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/winograd_kernel.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "cplearn/simd/relu-inl.h"

#ifndef CPLEARN_WINOGRAD_MATRICES
#define CPLEARN_WINOGRAD_MATRICES
namespace cpl::simd {
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

// The same without averaging: with b the input itself, the outputs of stride 2 are those of above.
struct Strided {
  static constexpr int kOutputs = 2;
  static constexpr Matrix<5, 5> kBT = {
      {{1, 0, -1, 0, 0}, {0, 0, 1, 0, 0}, {0, 0, -1, 0, 1}, {0, 1, 0, 0, 0}, {0, 0, 0, 1, 0}}};
  static constexpr auto kG = Pooled::kG;
  static constexpr auto kAT = Pooled::kAT;
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
template <class Stage, int size, class T, class Place>
void locate(const WinogradJob<T>& job, std::int64_t image, std::int64_t i, std::int64_t j,
            Place* outside, Place* (&places)[size * size]) {
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
}  // namespace cpl::simd
#endif  // CPLEARN_WINOGRAD_MATRICES

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A stage along one dimension: y[0], y[stride_y], ... = matrix times x[0], x[stride_x], ... The
// general way is the sum of its terms.
template <class Stage>
struct Transform {
  static constexpr auto kMatrix = Stage::kMatrix;

  template <int stride_x, int stride_y, class D, class V>
  static HWY_INLINE void run(D d, const V* x, V* y) {
    multiply<stride_x, stride_y>(d, x, y, std::make_index_sequence<kMatrix.kRows>());
  }

 private:
  template <int stride_x, int stride_y, class D, class V, std::size_t... rows>
  static HWY_INLINE void multiply(D d, const V* x, V* y, std::index_sequence<rows...>) {
    constexpr auto columns = std::make_index_sequence<kMatrix.kColumns>();
    ((y[rows * stride_y] = dot<rows, stride_x>(d, x, columns)), ...);
  }

  template <int row, int stride, class D, class V, std::size_t... columns>
  static HWY_INLINE V dot(D d, const V* x, std::index_sequence<columns...>) {
    V sum = hn::Zero(d);
    ((sum = add_term<row, columns>(d, sum, x[columns * stride])), ...);
    return sum;
  }

  // Whether all coefficients of the row before this one are zero.
  static constexpr bool is_first(int row, int column) {
    for (int j = 0; j < column; ++j) {
      if (kMatrix.at[row][j] != 0) return false;
    }
    return true;
  }

  // sum + coefficient * x, with the cheap instruction for 1 and -1 and none for 0.
  template <int row, int column, class D, class V>
  static HWY_INLINE V add_term(D d, V sum, V x) {
    constexpr double c = kMatrix.at[row][column];
    if constexpr (c == 0) return sum;
    if constexpr (c == 1) return is_first(row, column) ? x : hn::Add(sum, x);
    if constexpr (c == -1) return hn::Sub(sum, x);
    const V factor = hn::Set(d, static_cast<hn::TFromD<D>>(c));
    return is_first(row, column) ? hn::Mul(factor, x) : hn::MulAdd(factor, x, sum);
  }
};

// The four large ones share what their rows have in common: 10 to 16 operations instead of 14 to
// 26. Tests hold them against the direct convolution.
template <>
struct Transform<Input<Same>> {
  template <int sx, int sy, class D, class V>
  static HWY_INLINE void run(D d, const V* x, V* y) {
    const V c = hn::Set(d, static_cast<hn::TFromD<D>>(1.5));
    const V two = hn::Set(d, static_cast<hn::TFromD<D>>(2));
    const V half = hn::Set(d, static_cast<hn::TFromD<D>>(0.5));
    const V s = hn::Sub(x[4 * sx], x[2 * sx]), t = hn::Sub(x[3 * sx], x[1 * sx]);
    y[0 * sy] = hn::MulAdd(c, t, hn::Add(hn::Sub(x[0 * sx], x[2 * sx]), s));
    y[1 * sy] = hn::MulAdd(c, hn::Add(x[3 * sx], x[2 * sx]), hn::Add(s, t));
    y[2 * sy] = hn::MulAdd(c, hn::Sub(x[3 * sx], x[2 * sx]), hn::Sub(s, t));
    y[3 * sy] = hn::MulAdd(two, t, s);
    y[4 * sy] = hn::NegMulAdd(half, t, s);
    y[5 * sy] = hn::MulAdd(c, s, hn::Sub(hn::Sub(x[5 * sx], x[3 * sx]), t));
  }
};

template <>
struct Transform<InputAdjoint<Same>> {
  template <int sx, int sy, class D, class V>
  static HWY_INLINE void run(D d, const V* x, V* y) {
    const V c = hn::Set(d, static_cast<hn::TFromD<D>>(1.5));
    const V two = hn::Set(d, static_cast<hn::TFromD<D>>(2));
    const V half = hn::Set(d, static_cast<hn::TFromD<D>>(0.5));
    const V x0 = x[0], x3 = x[3 * sx], x4 = x[4 * sx], x5 = x[5 * sx];
    const V plus = hn::Add(x[1 * sx], x[2 * sx]), minus = hn::Sub(x[1 * sx], x[2 * sx]);
    const V s = hn::MulAdd(c, x5, hn::Add(hn::Add(x0, plus), hn::Add(x3, x4)));
    const V t = hn::MulAdd(c, x0, hn::MulAdd(two, x3, hn::NegMulAdd(half, x4, hn::Sub(minus, x5))));
    y[0 * sy] = x0;
    y[1 * sy] = hn::Neg(t);
    y[2 * sy] = hn::Sub(hn::MulSub(c, minus, x0), s);
    y[3 * sy] = hn::Add(hn::MulSub(c, plus, x5), t);
    y[4 * sy] = s;
    y[5 * sy] = x5;
  }
};

template <>
struct Transform<Output<Same>> {
  template <int sx, int sy, class D, class V>
  static HWY_INLINE void run(D d, const V* x, V* y) {
    const auto set = [d](double value) { return hn::Set(d, static_cast<hn::TFromD<D>>(value)); };
    const V x3 = x[3 * sx], x4 = x[4 * sx];
    const V plus = hn::Add(x[1 * sx], x[2 * sx]), minus = hn::Sub(x[1 * sx], x[2 * sx]);
    y[0 * sy] = hn::Add(hn::Add(x[0], plus), hn::Add(x3, x4));
    y[1 * sy] = hn::MulAdd(set(0.5), x3, hn::NegMulAdd(set(2), x4, minus));
    y[2 * sy] = hn::MulAdd(set(0.25), x3, hn::MulAdd(set(4), x4, plus));
    y[3 * sy] = hn::MulAdd(set(0.125), x3, hn::NegMulAdd(set(8), x4, hn::Add(minus, x[5 * sx])));
  }
};

template <>
struct Transform<OutputAdjoint<Same>> {
  template <int sx, int sy, class D, class V>
  static HWY_INLINE void run(D d, const V* x, V* y) {
    const auto set = [d](double value) { return hn::Set(d, static_cast<hn::TFromD<D>>(value)); };
    const V x0 = x[0], x1 = x[1 * sx], x2 = x[2 * sx], x3 = x[3 * sx];
    const V even = hn::Add(x0, x2), odd = hn::Add(x1, x3);
    y[0 * sy] = x0;
    y[1 * sy] = hn::Add(even, odd);
    y[2 * sy] = hn::Sub(even, odd);
    y[3 * sy] = hn::MulAdd(set(0.125), x3, hn::MulAdd(set(0.25), x2, hn::MulAdd(set(0.5), x1, x0)));
    y[4 * sy] = hn::NegMulAdd(set(8), x3, hn::MulAdd(set(4), x2, hn::NegMulAdd(set(2), x1, x0)));
    y[5 * sy] = x3;
  }
};

// y = matrix x matrix^T, where load(k) gives the elements of x and store(k, value) takes those of
// y: nothing but the half-way result goes through the stack.
template <class Stage, class D, class Load, class Store>
HWY_INLINE void multiply_both(D d, const Load& load, const Store& store) {
  constexpr int kRows = Stage::kMatrix.kRows, kColumns = Stage::kMatrix.kColumns;
  using V = hn::Vec<D>;
  V half[kRows * kColumns];
  HWY_UNROLL(6)
  for (int j = 0; j < kColumns; ++j) {
    V x[kColumns];
    HWY_UNROLL(6)
    for (int i = 0; i < kColumns; ++i) x[i] = load(i * kColumns + j);
    Transform<Stage>::template run<1, kColumns>(d, x, half + j);
  }
  HWY_UNROLL(6)
  for (int i = 0; i < kRows; ++i) {
    V y[kRows];
    Transform<Stage>::template run<1, 1>(d, half + i * kColumns, y);
    HWY_UNROLL(6)
    for (int j = 0; j < kRows; ++j) store(i * kRows + j, y[j]);
  }
}

template <class Stage>
constexpr std::int64_t windows(std::int64_t length) {
  return (length + Stage::kStride - 1) / Stage::kStride;
}

// Calls f(Same()) or whichever kind it is.
template <class F>
HWY_INLINE void for_kind(Winograd kind, const F& f) {
  switch (kind) {
    case Winograd::kSame:
      return f(Same());
    case Winograd::kPooled:
      return f(Pooled());
    case Winograd::kStrided:
      return f(Strided());
  }
}

// The same for stages of outputs and kernels, in which the last two do not differ.
template <class F>
HWY_INLINE void for_size(Winograd kind, const F& f) {
  return kind == Winograd::kSame ? f(Same()) : f(Pooled());
}

// Calls body(i, j, points of the tile) for every window of an image.
template <class Stage, class T, class Body>
HWY_INLINE void for_tiles(const WinogradJob<T>& job, std::int64_t image, const Body& body) {
  const std::int64_t rows = windows<Stage>(job.height), columns = windows<Stage>(job.width);
  T* points = job.points + image * rows * columns * job.tile_step;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j, points += job.tile_step) body(i, j, points);
  }
}

enum class Read { kPlain, kActivated, kNormalised };

// Map -> points.
template <class Stage, Read read, class T>
void gather(const WinogradJob<T>& job) {
  constexpr int kWindow = Stage::kMatrix.kColumns;
  const hn::CappedTag<T, kChannelMultiple> d;
  using V = hn::Vec<decltype(d)>;
  const auto slope = hn::Set(d, job.slope);
  const std::int64_t point_step = job.point_step;
  const std::vector<T> zeros(job.end);
  // Pixels around the image are zero, also after normalisation: their offset is.
  const std::vector<T> never(read == Read::kNormalised ? job.end : 0,
                             std::numeric_limits<T>::lowest());
  for (std::int64_t image = 0; image < job.images; ++image) {
    for_tiles<Stage>(job, image, [&](std::int64_t i, std::int64_t j, T* points) HWY_ATTR {
      const T* places[kWindow * kWindow];
      locate<Stage, kWindow>(job, image, i, j, zeros.data(), places);
      const T* offsets[kWindow * kWindow];
      for (int k = 0; k < kWindow * kWindow && read == Read::kNormalised; ++k)
        offsets[k] = places[k] == zeros.data() ? never.data() : job.offset;
      for (std::int64_t c = job.begin; c < job.end; c += static_cast<std::int64_t>(hn::Lanes(d))) {
        const V scale = read == Read::kNormalised ? hn::LoadU(d, job.scale + c) : slope;
        multiply_both<Stage>(
            d,
            [&](int k) HWY_ATTR {
              const V x = hn::LoadU(d, places[k] + c);
              // In this order infinity stays infinite where the slope is 0.
              if constexpr (read == Read::kActivated) return hn::Max(hn::Mul(x, slope), x);
              if constexpr (read == Read::kNormalised)
                return relu(d, hn::MulAdd(x, scale, hn::LoadU(d, offsets[k] + c)));
              return x;
            },
            [&](int k, V y) HWY_ATTR { hn::StoreU(y, d, points + k * point_step + c); });
      }
    });
  }
}

// Points -> map of one image, added to what is there (overlapping) or to the bias.
template <class Stage, bool overlapping, class T>
void scatter(const WinogradJob<T>& job, std::int64_t image) {
  constexpr int kWindow = Stage::kMatrix.kRows;
  const hn::CappedTag<T, kChannelMultiple> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t point_step = job.point_step;
  std::vector<T> discarded(job.end);
  const std::vector<T> zeros(job.bias || overlapping ? 0 : job.end);
  const T* const bias = job.bias ? job.bias : zeros.data();
  for_tiles<Stage>(job, image, [&](std::int64_t i, std::int64_t j, const T* points) HWY_ATTR {
    T* places[kWindow * kWindow];
    locate<Stage, kWindow>(job, image, i, j, discarded.data(), places);
    for (std::int64_t c = job.begin; c < job.end; c += static_cast<std::int64_t>(hn::Lanes(d))) {
      multiply_both<Stage>(
          d, [&](int k) HWY_ATTR { return hn::LoadU(d, points + k * point_step + c); },
          [&](int k, V y) HWY_ATTR {
            T* const place = places[k] + c;
            hn::StoreU(hn::Add(y, hn::LoadU(d, overlapping ? place : bias + c)), d, place);
          });
    }
  });
}

template <class T>
void input(const WinogradJob<T>& job) {
  for_kind(job.kind, [&](auto kind) HWY_ATTR {
    using Stage = Input<decltype(kind)>;
    if (job.scale) return gather<Stage, Read::kNormalised>(job);
    job.slope == 1 ? gather<Stage, Read::kPlain>(job) : gather<Stage, Read::kActivated>(job);
  });
}

template <class T>
void output(const WinogradJob<T>& job) {
  for_size(job.kind, [&](auto kind) HWY_ATTR {
    for (std::int64_t image = 0; image < job.images; ++image)
      scatter<Output<decltype(kind)>, false>(job, image);
  });
}

template <class T>
void output_adjoint(const WinogradJob<T>& job) {
  for_size(job.kind,
           [&](auto kind) HWY_ATTR { gather<OutputAdjoint<decltype(kind)>, Read::kPlain>(job); });
}

template <class T>
void input_adjoint(const WinogradJob<T>& job) {
  const hn::CappedTag<T, kChannelMultiple> d;
  const auto slope = hn::Set(d, job.slope);
  const std::int64_t size = job.height * job.width * job.channels;
  for_kind(job.kind, [&](auto kind) HWY_ATTR {
    for (std::int64_t image = 0; image < job.images; ++image) {
      T* const map = job.map + image * size;
      std::fill(map, map + size, T{0});
      scatter<InputAdjoint<decltype(kind)>, true>(job, image);
      if (job.slope == 1) continue;
      const T* const x = job.input + image * size;
      for (std::int64_t i = 0; i < size; i += static_cast<std::int64_t>(hn::Lanes(d))) {
        const auto g = hn::LoadU(d, map + i);
        const auto positive = hn::Gt(hn::LoadU(d, x + i), hn::Zero(d));
        hn::StoreU(hn::IfThenElse(positive, g, hn::Mul(g, slope)), d, map + i);
      }
    }
  });
}

template <class T>
void kernel(const WinogradJob<T>& job) {
  for_size(job.kind,
           [&](auto kind) HWY_ATTR { gather<Kernel<decltype(kind)>, Read::kPlain>(job); });
}

template <class T>
void kernel_adjoint(const WinogradJob<T>& job) {
  for_size(job.kind,
           [&](auto kind) HWY_ATTR { scatter<KernelAdjoint<decltype(kind)>, false>(job, 0); });
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
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

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

}  // namespace cpl::simd
#endif  // HWY_ONCE
