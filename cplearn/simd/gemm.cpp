// Compiled once per instruction set by Highway.

#include "cplearn/simd/gemm.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "cplearn/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cplearn/simd/gemm.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cpl::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A tile of C stays in registers: 6 rows by 2 vectors where there are 16 registers, by 4 of 32.
constexpr int kRows = 6;
constexpr int kVectors = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
constexpr std::int64_t kLanes = hn::MaxLanes(Tag<T>());
template <class T>
constexpr std::int64_t kPanel = kLanes<T>* kVectors;  // columns of B that lie side by side

// Blocks: a panel of B (k x kPanel) is to stay in the first-level cache while A goes by, a block of
// A (m x k) in the second, and one of B (k x n) in the third.
template <class T>
constexpr std::int64_t kBlockK = (kVectors == 4 ? 32768 : 24576) / (kPanel<T> * sizeof(T));
constexpr std::int64_t kBlockM = 192;
constexpr std::int64_t kBlockN = 1024;

// One tile: C (rows x vectors) = or += A B. Element (i, p) of A is at a[i * a_step + p] (by_row) or
// a[p * a_step + i].
template <class T>
struct TileJob {
  std::int64_t k;
  const T* a;
  std::int64_t a_step;
  const T* b;
  std::int64_t b_step;
  T* c;
  std::int64_t c_row;
  bool add;
};

template <class T, int rows, int vectors, bool by_row>
HWY_NOINLINE void tile(const TileJob<T>& job) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sum[rows][vectors];
  HWY_UNROLL(6)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(4)
    for (int v = 0; v < vectors; ++v) sum[i][v] = hn::Zero(d);
  }
  const T* HWY_RESTRICT a = job.a;
  const T* HWY_RESTRICT b = job.b;
  T* HWY_RESTRICT c = job.c;
  const std::int64_t k = job.k, a_step = job.a_step, b_step = job.b_step, c_row = job.c_row;
  const bool add = job.add;
  HWY_UNROLL(6)
  for (int i = 0; i < rows; ++i) hwy::Prefetch(c + i * c_row);
  for (std::int64_t p = 0; p < k; ++p) {
    V x[vectors];
    HWY_UNROLL(4)
    for (int v = 0; v < vectors; ++v) x[v] = hn::LoadU(d, b + v * kLanes<T>);
    HWY_UNROLL(6)
    for (int i = 0; i < rows; ++i) {
      const V y = hn::Set(d, by_row ? a[i * a_step] : a[i]);
      HWY_UNROLL(4)
      for (int v = 0; v < vectors; ++v) sum[i][v] = hn::MulAdd(y, x[v], sum[i][v]);
    }
    a += by_row ? 1 : a_step;
    b += b_step;
  }
  if (add) {
    HWY_UNROLL(6)
    for (int i = 0; i < rows; ++i) {
      HWY_UNROLL(4)
      for (int v = 0; v < vectors; ++v)
        sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, c + i * c_row + v * kLanes<T>));
    }
  }
  HWY_UNROLL(6)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(4)
    for (int v = 0; v < vectors; ++v) hn::StoreU(sum[i][v], d, c + i * c_row + v * kLanes<T>);
  }
}

template <class T>
using Tile = void (*)(const TileJob<T>&);

template <class T, int vectors, bool by_row>
Tile<T> find_tile(std::int64_t rows) {
  static constexpr Tile<T> kTiles[kRows] = {
      tile<T, 1, vectors, by_row>, tile<T, 2, vectors, by_row>, tile<T, 3, vectors, by_row>,
      tile<T, 4, vectors, by_row>, tile<T, 5, vectors, by_row>, tile<T, 6, vectors, by_row>};
  return kTiles[rows - 1];
}

template <class T, bool by_row>
Tile<T> find_tile(std::int64_t rows, std::int64_t vectors) {
  if constexpr (kVectors == 4) {
    if (vectors == 4) return find_tile<T, 4, by_row>(rows);
  }
  return vectors == 2 ? find_tile<T, 2, by_row>(rows) : find_tile<T, 1, by_row>(rows);
}

// A block of the product, whose operands lie as the tiles read them.
template <class T>
struct Block {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_step;
  bool by_row;
  const T* b;
  std::int64_t b_step, b_panel;  // from a row to the next, and from a panel to the next
  T* c;
  std::int64_t c_row;
  bool add;
};

// Columns [j, j + width) of the block, of which the last vector may stand out of C.
template <class T>
void multiply_columns(const Block<T>& block, std::int64_t j, std::int64_t vectors,
                      std::int64_t width) {
  HWY_ALIGN T edge[kRows * kPanel<T>];
  const bool fits = width == vectors * kLanes<T>;
  const T* const b = block.b + j / kPanel<T> * block.b_panel + j % kPanel<T>;
  // Rows in equal parts: 64 are 9 x 6 + 2 x 5, and not 10 x 6 + 4 with a slow end.
  const std::int64_t parts = (block.m + kRows - 1) / kRows;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t i = block.m * part / parts, rows = block.m * (part + 1) / parts - i;
    const T* const a = block.a + i * (block.by_row ? block.a_step : 1);
    T* const c = block.c + i * block.c_row + j;
    const TileJob<T> job{block.k,
                         a,
                         block.a_step,
                         b,
                         block.b_step,
                         fits ? c : edge,
                         fits ? block.c_row : kPanel<T>,
                         fits && block.add};
    block.by_row ? find_tile<T, true>(rows, vectors)(job) : find_tile<T, false>(rows, vectors)(job);
    if (fits) continue;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t s = 0; s < width; ++s) {
        T& target = c[r * block.c_row + s];
        target = block.add ? target + edge[r * kPanel<T> + s] : edge[r * kPanel<T> + s];
      }
    }
  }
}

template <class T>
void multiply(const Block<T>& block) {
  for (std::int64_t j = 0; j < block.n;) {
    const std::int64_t left = std::min(block.n - j, kPanel<T> - j % kPanel<T>);
    const std::int64_t whole = (left + kLanes<T> - 1) / kLanes<T>;
    const std::int64_t vectors = whole >= kVectors ? kVectors : whole >= 2 ? 2 : 1;
    const std::int64_t width = std::min(left, vectors * kLanes<T>);
    multiply_columns(block, j, vectors, width);
    j += width;
  }
}

// Four rows of x, each `step` after the one before, become four columns; doubles two by two.
template <class T>
HWY_INLINE void transpose_square(const T* HWY_RESTRICT x, std::int64_t step, T* HWY_RESTRICT y,
                                 std::int64_t y_step) {
#if HWY_TARGET == HWY_SCALAR
  (void)step, (void)y_step;
  *y = *x;
#else
  const hn::CappedTag<T, 16 / sizeof(T)> d;
  if constexpr (hn::MaxLanes(d) == 4) {
    const hn::Repartition<double, decltype(d)> dd;
    const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + step), c = hn::LoadU(d, x + 2 * step),
               e = hn::LoadU(d, x + 3 * step);
    const auto ab0 = hn::BitCast(dd, hn::InterleaveLower(d, a, b));
    const auto ab1 = hn::BitCast(dd, hn::InterleaveUpper(d, a, b));
    const auto ce0 = hn::BitCast(dd, hn::InterleaveLower(d, c, e));
    const auto ce1 = hn::BitCast(dd, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab0, ce0)), d, y);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab0, ce0)), d, y + y_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, ab1, ce1)), d, y + 2 * y_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, ab1, ce1)), d, y + 3 * y_step);
  } else {
    const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + step);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, y);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, y + y_step);
  }
#endif
}

// y (columns x rows) = x (rows x columns) transposed.
template <class T>
void transpose(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t step, T* y,
               std::int64_t y_step) {
  constexpr std::int64_t S = hn::MaxLanes(hn::CappedTag<T, 16 / sizeof(T)>());
  const std::int64_t whole_rows = rows / S * S, whole_columns = columns / S * S;
  for (std::int64_t i = 0; i < whole_rows; i += S) {
    for (std::int64_t j = 0; j < whole_columns; j += S)
      transpose_square(x + i * step + j, step, y + j * y_step + i, y_step);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      y[j * y_step + i] = x[i * step + j];
  }
}

template <class T>
void pack(std::int64_t n, std::int64_t k, const T* b, std::int64_t b_row, std::int64_t b_column,
          T* packed) {
  for (std::int64_t j = 0; j < n; j += kPanel<T>, packed += k * kPanel<T>) {
    const std::int64_t width = std::min(kPanel<T>, n - j);
    if (width < kPanel<T>) std::fill(packed, packed + k * kPanel<T>, T{0});
    if (b_column == 1) {
      for (std::int64_t p = 0; p < k; ++p)
        std::copy_n(b + p * b_row + j, width, packed + p * kPanel<T>);
    } else {
      transpose(width, k, b + j * b_column, b_column, packed, kPanel<T>);
    }
  }
}

// Whether rows are best read where they lie: they keep gemm_stride's rule and little lies between.
template <class T>
bool lies_well(const T* x, std::int64_t step, std::int64_t length) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  return step % (2 * kLine) == kLine && step <= length + 2 * kLine &&
         reinterpret_cast<std::uintptr_t>(x) % 64 == 0;
}

// Memory of this thread that keeps its size from product to product.
template <class T>
T* scratch(hwy::AlignedFreeUniquePtr<T[]>& memory, std::int64_t& size, std::int64_t wanted) {
  if (size < wanted) {
    auto more = hwy::AllocateAligned<T>(static_cast<std::size_t>(wanted));
    if (!more) throw std::bad_alloc();
    memory = std::move(more);
    size = wanted;
  }
  return memory.get();
}

template <class T>
void gemm_any(const Gemm<T>& job) {
  thread_local hwy::AlignedFreeUniquePtr<T[]> a_memory, b_memory;
  thread_local std::int64_t a_size = 0, b_size = 0;
  if (job.k == 0 && !job.add) {
    for (std::int64_t i = 0; i < job.m; ++i) std::fill_n(job.c + i * job.c_row, job.n, T{0});
  }
  const bool by_row = job.a_column == 1;
  const std::int64_t a_step = by_row ? job.a_row : job.a_column;
  const bool a_lies = job.n <= kPanel<T> || lies_well(job.a, a_step, by_row ? job.k : job.m);
  const bool b_lies = !job.b_packed && job.b_column == 1 && job.n % kLanes<T> == 0 &&
                      (job.m <= kRows || lies_well(job.b, job.b_row, job.n));
  const std::int64_t k_blocks = (job.k + kBlockK<T> - 1) / kBlockK<T>;
  for (std::int64_t j = 0; j < job.n; j += kBlockN) {
    const std::int64_t n = std::min(kBlockN, job.n - j);
    for (std::int64_t part = 0; part < k_blocks; ++part) {
      const std::int64_t p = job.k * part / k_blocks, k = job.k * (part + 1) / k_blocks - p;
      Block<T> block{0,       n,         k,
                     nullptr, a_step,    by_row,
                     nullptr, kPanel<T>, k * kPanel<T>,
                     nullptr, job.c_row, job.add || part > 0};
      if (job.b_packed) {
        block.b = job.b + j * job.k + p * kPanel<T>;
        block.b_panel = job.k * kPanel<T>;
      } else if (b_lies) {
        block.b = job.b + p * job.b_row + j;
        block.b_step = job.b_row;
        block.b_panel = kPanel<T>;
      } else {
        const std::int64_t panels = (n + kPanel<T> - 1) / kPanel<T>;
        T* const packed = scratch(b_memory, b_size, panels * k * kPanel<T>);
        pack(n, k, job.b + p * job.b_row + j * job.b_column, job.b_row, job.b_column, packed);
        block.b = packed;
      }
      for (std::int64_t i = 0; i < job.m; i += kBlockM) {
        block.m = std::min(kBlockM, job.m - i);
        block.c = job.c + i * job.c_row + j;
        block.a = job.a + i * job.a_row + p * job.a_column;
        if (!a_lies) {
          const std::int64_t rows = by_row ? block.m : k, length = by_row ? k : block.m;
          block.a_step = gemm_stride<T>(length);
          T* const copy = scratch(a_memory, a_size, rows * block.a_step);
          for (std::int64_t r = 0; r < rows; ++r)
            std::copy_n(block.a + r * a_step, length, copy + r * block.a_step);
          block.a = copy;
        }
        multiply(block);
      }
    }
  }
}

void gemm_f(const Gemm<float>& job) { gemm_any(job); }
void gemm_d(const Gemm<double>& job) { gemm_any(job); }
void pack_f(std::int64_t n, std::int64_t k, const float* b, std::int64_t row, std::int64_t column,
            float* packed) {
  pack(n, k, b, row, column, packed);
}
void pack_d(std::int64_t n, std::int64_t k, const double* b, std::int64_t row, std::int64_t column,
            double* packed) {
  pack(n, k, b, row, column, packed);
}
std::int64_t panel_f() { return kPanel<float>; }
std::int64_t panel_d() { return kPanel<double>; }

}  // namespace
}  // namespace cpl::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cpl::simd {

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define CPLEARN_GEMM(T, suffix)                                               \
  HWY_EXPORT(gemm_##suffix);                                                  \
  HWY_EXPORT(pack_##suffix);                                                  \
  HWY_EXPORT(panel_##suffix);                                                 \
  template <>                                                                 \
  void gemm(const Gemm<T>& job) {                                             \
    HWY_DYNAMIC_DISPATCH(gemm_##suffix)(job);                                 \
  }                                                                           \
  template <>                                                                 \
  std::int64_t gemm_panel<T>() {                                              \
    return HWY_DYNAMIC_DISPATCH(panel_##suffix)();                            \
  }                                                                           \
  template <>                                                                 \
  void pack_b(std::int64_t n, std::int64_t k, const T* b, std::int64_t b_row, \
              std::int64_t b_column, T* packed) {                             \
    HWY_DYNAMIC_DISPATCH(pack_##suffix)(n, k, b, b_row, b_column, packed);    \
  }

CPLEARN_GEMM(float, f)
CPLEARN_GEMM(double, d)
#undef CPLEARN_GEMM
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace cpl::simd
#endif  // HWY_ONCE
