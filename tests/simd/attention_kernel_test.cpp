#include "cplearn/simd/attention_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cplearn/base/random.h"
#include "cplearn/simd/isa.h"

namespace cpl::simd {
namespace {

// q, k and v side by side in rows, as a transformer's qkv layer makes them, and gradients likewise.
struct Problem {
  std::int64_t tokens, queries, width, step;
  std::vector<float> qkv, dout, out, dqkv, log_sums;

  Problem(std::int64_t token_count, std::int64_t query_count, std::int64_t columns, float size)
      : tokens(token_count),
        queries(query_count),
        width(columns),
        step(3 * columns),
        qkv(tokens * step),
        dout(queries * width),
        out(queries * width),
        dqkv(tokens * step, 0.0f),
        log_sums(queries) {
    Random random(static_cast<std::uint64_t>(tokens * 1000 + width), Stream::kEval);
    for (auto* values : {&qkv, &dout})
      for (float& x : *values) x = random.uniform(-size, size);
  }

  float scale() const { return 1 / std::sqrt(static_cast<float>(width)); }

  void run() {
    const auto part = [&](int i) { return ConstRows{qkv.data() + i * width, step}; };
    const auto gradient = [&](int i) { return Rows<float>{dqkv.data() + i * width, step}; };
    const Attention job{tokens, queries, width, scale(), part(0), part(1), part(2)};
    attention(job, {out.data(), width}, log_sums.data());
    attention_backward(job, log_sums.data(), ConstRows{dout.data(), width}, gradient(0),
                       gradient(1), gradient(2));
  }

  // The definition in double: `out_expected` and `dqkv_expected`.
  void naive(std::vector<double>& out_expected, std::vector<double>& dqkv_expected) const {
    out_expected.assign(out.size(), 0);
    dqkv_expected.assign(dqkv.size(), 0);
    const auto at = [&](int part, std::int64_t i, std::int64_t c) {
      return static_cast<double>(qkv[i * step + part * width + c]);
    };
    const auto d = [&](int part, std::int64_t i, std::int64_t c) -> double& {
      return dqkv_expected[i * step + part * width + c];
    };
    for (std::int64_t i = 0; i < queries; ++i) {
      std::vector<double> p(tokens), dp(tokens);
      for (std::int64_t j = 0; j < tokens; ++j) {
        for (std::int64_t c = 0; c < width; ++c)
          p[j] += static_cast<double>(scale()) * at(0, i, c) * at(1, j, c);
      }
      const double top = *std::max_element(p.begin(), p.end());
      double sum = 0, mean = 0;
      for (double& x : p) sum += x = std::exp(x - top);
      for (std::int64_t j = 0; j < tokens; ++j) {
        p[j] /= sum;
        for (std::int64_t c = 0; c < width; ++c) {
          const auto slope = static_cast<double>(dout[i * width + c]);
          out_expected[i * width + c] += p[j] * at(2, j, c);
          d(2, j, c) += p[j] * slope;
          dp[j] += slope * at(2, j, c);
        }
        mean += p[j] * dp[j];
      }
      for (std::int64_t j = 0; j < tokens; ++j) {
        const double slope = p[j] * (dp[j] - mean) * static_cast<double>(scale());
        for (std::int64_t c = 0; c < width; ++c) {
          d(0, i, c) += slope * at(1, j, c);
          d(1, j, c) += slope * at(0, i, c);
        }
      }
    }
  }
};

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

void expect_naive(Problem problem, double tolerance) {
  std::vector<double> out, dqkv;
  problem.naive(out, dqkv);
  problem.run();
  const double out_size = largest(out), dqkv_size = largest(dqkv);
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(problem.out[i], out[i], tolerance * out_size) << "output " << i;
  for (std::size_t i = 0; i < dqkv.size(); ++i)
    ASSERT_NEAR(problem.dqkv[i], dqkv[i], tolerance * dqkv_size) << "gradient " << i;
}

TEST(AttentionKernel, EqualsTheDefinitionOnEveryInstructionSet) {
  for (const auto& isa : instruction_sets()) {
    force_instruction_set(isa);
    for (const std::int64_t width : {32, 64}) {
      for (const std::int64_t tokens : {1, 2, 5, 17, 32, 37, 65, 197}) {
        for (const std::int64_t queries : {std::int64_t{1}, tokens}) {
          SCOPED_TRACE(isa + ", " + std::to_string(tokens) + " tokens, width " +
                       std::to_string(width));
          expect_naive(Problem(tokens, queries, width, 1.0f), 5e-6);
        }
      }
    }
  }
  force_instruction_set("");
}

// One token takes nearly everything; no probability overflows or becomes NaN.
TEST(AttentionKernel, IsSafeAtExtremeLogits) { expect_naive(Problem(40, 40, 64, 10.0f), 1e-4); }

}  // namespace
}  // namespace cpl::simd
