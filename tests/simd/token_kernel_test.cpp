#include "cplearn/simd/token_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cplearn/base/random.h"
#include "cplearn/simd/isa.h"

namespace cpl::simd {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Rows with a gap between them, filled with numbers in [-size, size).
struct TokenMatrix {
  std::int64_t count, width, step;
  std::vector<float> values;

  TokenMatrix(std::int64_t row_count, std::int64_t columns, float size, std::uint64_t seed)
      : count(row_count), width(columns), step(columns + 5), values(count * step) {
    Random random(seed, Stream::kEval);
    for (float& x : values) x = random.uniform(-size, size);
  }
  Rows<float> rows() { return {values.data(), step}; }
  double at(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(values[i * step + j]);
  }
};

std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  return TokenMatrix(1, count, 1.0f, seed).values;
}

template <class Body>
void on_every_instruction_set(const Body& body) {
  for (const auto& isa : instruction_sets()) {
    force_instruction_set(isa);
    for (const std::int64_t rows : {1, 3, 8}) {
      for (const std::int64_t width : {32, 96, 192, 384}) {
        SCOPED_TRACE(isa + ", " + std::to_string(rows) + " x " + std::to_string(width));
        body(rows, width);
      }
    }
  }
  force_instruction_set("");
}

// The definition in double, of one row: z = (x - mean) / deviation, and 1 / deviation.
std::vector<double> normalised(const TokenMatrix& x, std::int64_t row, double epsilon,
                               double& scale) {
  const auto width = static_cast<double>(x.width);
  double mean = 0, variance = 0;
  for (std::int64_t j = 0; j < x.width; ++j) mean += x.at(row, j) / width;
  for (std::int64_t j = 0; j < x.width; ++j) variance += std::pow(x.at(row, j) - mean, 2) / width;
  scale = 1 / std::sqrt(variance + epsilon);
  std::vector<double> z(x.width);
  for (std::int64_t j = 0; j < x.width; ++j) z[j] = (x.at(row, j) - mean) * scale;
  return z;
}

TEST(TokenKernel, LayerNormEqualsTheDefinition) {
  on_every_instruction_set([](std::int64_t rows, std::int64_t width) {
    TokenMatrix x(rows, width, 3.0f, 1), y(rows, width, 1.0f, 2), dy(rows, width, 1.0f, 3);
    TokenMatrix dx(rows, width, 1.0f, 4);
    const TokenMatrix dx_before = dx;
    const auto weight = numbers(width, 5), bias = numbers(width, 6);
    const LayerNorm norm{weight.data(), bias.data(), 1e-2f};
    auto dweight = numbers(width, 7), dbias = numbers(width, 8);
    std::vector<double> dweight_expected(dweight.begin(), dweight.end());
    std::vector<double> dbias_expected(dbias.begin(), dbias.end());
    layer_norm({rows, width}, norm, x.rows(), y.rows());
    layer_norm_backward({rows, width}, norm, x.rows(), dy.rows(), dx.rows(), dweight.data(),
                        dbias.data());
    for (std::int64_t i = 0; i < rows; ++i) {
      double scale = 0, mean_g = 0, mean_gz = 0;
      const auto z = normalised(x, i, 1e-2, scale);
      const auto g = [&](std::int64_t j) { return dy.at(i, j) * static_cast<double>(weight[j]); };
      for (std::int64_t j = 0; j < width; ++j) {
        mean_g += g(j) / static_cast<double>(width);
        mean_gz += g(j) * z[j] / static_cast<double>(width);
        dweight_expected[j] += dy.at(i, j) * z[j];
        dbias_expected[j] += dy.at(i, j);
      }
      for (std::int64_t j = 0; j < width; ++j) {
        EXPECT_NEAR(y.at(i, j),
                    z[j] * static_cast<double>(weight[j]) + static_cast<double>(bias[j]), 2e-6);
        EXPECT_NEAR(dx.at(i, j), dx_before.at(i, j) + (g(j) - mean_g - z[j] * mean_gz) * scale,
                    2e-6);
      }
    }
    for (std::int64_t j = 0; j < width; ++j) {
      EXPECT_NEAR(dweight[j], dweight_expected[j], 1e-5);
      EXPECT_NEAR(dbias[j], dbias_expected[j], 1e-5);
    }
  });
}

TEST(TokenKernel, GeluEqualsTheDefinition) {
  for (const float size : {0.1f, 3.0f, 30.0f}) {
    on_every_instruction_set([&](std::int64_t rows, std::int64_t width) {
      TokenMatrix x(rows, width, size, 1), y(rows, width, 1.0f, 2), again = y,
                                                                    dy(rows, width, 1.0f, 3);
      const TokenMatrix dy_before = dy;
      const auto bias = numbers(width, 4);
      gelu({rows, width}, x.rows(), bias.data(), y.rows());
      gelu_backward({rows, width}, x.rows(), bias.data(), again.rows(), dy.rows());
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          const double z = static_cast<double>(static_cast<float>(x.at(i, j)) + bias[j]);
          const double phi = std::erfc(-z / std::sqrt(2.0)) / 2;
          const double slope = phi + z * std::exp(-z * z / 2) / std::sqrt(2 * kPi);
          EXPECT_NEAR(y.at(i, j), z * phi, 2e-7 * (1 + std::abs(z * phi))) << z;
          EXPECT_EQ(y.at(i, j), again.at(i, j));
          EXPECT_NEAR(dy.at(i, j), dy_before.at(i, j) * slope, 4e-7) << z;
        }
      }
    });
  }
}

TEST(TokenKernel, SumsEqualTheDefinition) {
  on_every_instruction_set([](std::int64_t rows, std::int64_t width) {
    TokenMatrix x(rows, width, 1.0f, 1), branch(rows, width, 1.0f, 2), y(rows, width, 1.0f, 3);
    const auto bias = numbers(width, 4), scales = numbers(rows, 5), before = numbers(width, 6);
    for (const float* scale : {static_cast<const float*>(nullptr), scales.data()}) {
      const auto factor = [&](std::int64_t i) {
        return scale ? static_cast<double>(scale[i]) : 1.0;
      };
      add_branch({rows, width}, x.rows(), branch.rows(), bias.data(), scale, y.rows());
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          const double expected =
              x.at(i, j) + factor(i) * (branch.at(i, j) + static_cast<double>(bias[j]));
          EXPECT_NEAR(y.at(i, j), expected, 1e-6);
        }
      }
      auto sums = before, plain_sums = before;
      scale_rows({rows, width}, x.rows(), scale, y.rows(), sums.data());
      add_rows({rows, width}, y.rows(), plain_sums.data());
      for (std::int64_t j = 0; j < width; ++j) {
        double sum = static_cast<double>(before[j]);
        for (std::int64_t i = 0; i < rows; ++i) {
          EXPECT_NEAR(y.at(i, j), x.at(i, j) * factor(i), 1e-7);
          sum += y.at(i, j);
        }
        EXPECT_NEAR(sums[j], sum, 2e-6);
        EXPECT_NEAR(plain_sums[j], sum, 2e-6);
      }
    }
  });
}

}  // namespace
}  // namespace cpl::simd
