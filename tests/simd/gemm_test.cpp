#include "cplearn/simd/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "cplearn/base/random.h"
#include "cplearn/simd/isa.h"

namespace cpl::simd {
namespace {

// Begins at a cache line, without which no operand is read where it lies.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const LineAllocator&) const { return true; }
  bool operator!=(const LineAllocator&) const { return false; }
};
template <class T>
using Values = std::vector<T, LineAllocator<T>>;

constexpr std::int64_t kAsGemmWants = -1;  // a gap that makes steps of gemm_stride

// A matrix of noise, with a gap between its rows, or columns if it is transposed.
template <class T>
struct Matrix {
  Matrix(std::int64_t r, std::int64_t c, bool transposed, std::int64_t gap)
      : row(transposed ? 1 : step(c, gap)),
        column(transposed ? step(r, gap) : 1),
        values(transposed ? column * c : row * r) {
    Random random(static_cast<std::uint64_t>(r * 1000 + c), Stream::kEval);
    for (T& x : values) x = static_cast<T>(random.uniform(-1, 1));
  }
  static std::int64_t step(std::int64_t length, std::int64_t gap) {
    return gap == kAsGemmWants ? gemm_stride<T>(length) : length + gap;
  }
  T at(std::int64_t i, std::int64_t j) const { return values[i * row + j * column]; }

  std::int64_t row, column;
  Values<T> values;
};

// `gap` is that of every matrix, see above.
template <class T>
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed,
                    bool b_transposed, std::int64_t gap) {
  const Matrix<T> a(m, k, a_transposed, gap), b(k, n, b_transposed, gap);
  const Matrix<T> before(m, n, false, gap);
  const double tolerance = std::numeric_limits<T>::epsilon() * static_cast<double>(k + 8);
  Values<T> packed(packed_b_size<T>(n, k));
  pack_b(n, k, b.values.data(), b.row, b.column, packed.data());
  Values<T> results[2];
  for (const bool add : {false, true}) {
    for (const bool b_packed : {false, true}) {
      Values<T> c = before.values;
      gemm(Gemm<T>{m, n, k, a.values.data(), a.row, a.column,
                   b_packed ? packed.data() : b.values.data(), b.row, b.column, c.data(),
                   before.row, add, b_packed});
      double worst = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = add ? static_cast<double>(before.at(i, j)) : 0;
          for (std::int64_t p = 0; p < k; ++p)
            sum += static_cast<double>(a.at(i, p)) * static_cast<double>(b.at(p, j));
          worst = std::max(worst, std::abs(sum - static_cast<double>(c[i * before.row + j])));
        }
        for (std::int64_t j = n; j < before.row && i + 1 < m; ++j)
          ASSERT_EQ(c[i * before.row + j], before.values[i * before.row + j]) << "beyond the row";
      }
      ASSERT_LE(worst, tolerance) << m << " x " << n << " x " << k << " add " << add;
      results[b_packed] = c;
    }
    ASSERT_EQ(results[0], results[1]);
  }
}

template <class T>
void expect_products() {
  const std::int64_t sizes[] = {1, 2, 5, 6, 7, 13, 16, 31, 64, 75};
  int number = 0;
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (const std::int64_t k : {0, 1, 3, 16, 70}) {
        ++number;
        expect_product<T>(m, n, k, number & 1, number & 2, number % 3 == 0 ? 5 : 0);
      }
    }
  }
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      expect_product<T>(200, 70, 530, a, b, 0);  // more than a block of rows, and of the sum
      expect_product<T>(14, 1100, 33, a, b, 3);  // and of columns
      // The same with operands that are read where they lie, and with more than a tile of rows.
      for (const std::int64_t m : {7, 200}) expect_product<T>(m, 64, 530, a, b, kAsGemmWants);
      expect_product<T>(14, 1104, 33, a, b, kAsGemmWants);
      expect_product<T>(13, 75, 40, a, b, kAsGemmWants);  // half a vector at the end of a row
    }
  }
}

TEST(Gemm, EqualsTheDefinitionOnEveryInstructionSet) {
  for (const auto& isa : instruction_sets()) {
    SCOPED_TRACE(isa);
    force_instruction_set(isa);
    expect_products<float>();
    expect_products<double>();
  }
  force_instruction_set("");
}

// Threads share a product out by rows or columns: the bits must not tell who did what.
TEST(Gemm, APartOfTheProductHasTheSameBits) {
  const Matrix<float> a(50, 700, false, 0), b(700, 90, true, 0);
  std::vector<float> whole(50 * 90), part(50 * 90);
  Gemm<float> job{50,       90,           700, a.values.data(), a.row, 1, b.values.data(), 1,
                  b.column, whole.data(), 90};
  gemm(job);
  for (const std::int64_t cut : {1, 17, 42}) {
    Gemm<float> first = job, second = job;
    first.c = part.data();
    first.m = cut;
    second.m = 50 - cut;
    second.a += cut * a.row;
    second.c = part.data() + cut * 90;
    gemm(first);
    gemm(second);
    EXPECT_EQ(whole, part);
    first = second = job;
    first.c = part.data();
    first.n = cut;
    second.n = 90 - cut;
    second.b += cut * b.column;
    second.c = part.data() + cut;
    gemm(first);
    gemm(second);
    EXPECT_EQ(whole, part);
  }
}

TEST(Gemm, StridesAreOddNumbersOfCacheLines) {
  for (const std::int64_t length : {1, 15, 16, 17, 64, 512}) {
    const std::int64_t stride = gemm_stride<float>(length);
    EXPECT_GE(stride, length);
    EXPECT_EQ(stride % 32, 16);
  }
}

}  // namespace
}  // namespace cpl::simd
