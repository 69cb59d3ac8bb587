#include "cplearn/simd/softmax_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cplearn/base/random.h"
#include "cplearn/simd/isa.h"

namespace cpl::simd {
namespace {

struct SoftmaxProblem {
  std::int64_t n, classes, width;
  std::vector<float> rows, weight, bias;
  std::vector<std::int64_t> labels;

  SoftmaxProblem(std::int64_t row_count, std::int64_t class_count, std::int64_t columns, float size)
      : n(row_count),
        classes(class_count),
        width(columns),
        rows(n * width),
        weight(classes * width),
        bias(classes),
        labels(n) {
    Random random(static_cast<std::uint64_t>(n * 1000 + classes), Stream::kEval);
    for (auto* values : {&rows, &weight, &bias})
      for (float& x : *values) x = random.uniform(-size, size);
    for (auto& label : labels) label = random.below(static_cast<std::uint32_t>(classes));
  }

  SoftmaxJob job() const {
    return {rows.data(), labels.data(), width, classes, weight.data(), bias.data()};
  }

  // The definition, in double. `gradient`: weights, then biases.
  double naive(std::int64_t begin, std::int64_t end, std::vector<double>& gradient) const {
    double loss = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      std::vector<double> logits(classes);
      for (std::int64_t c = 0; c < classes; ++c)
        logits[c] = std::inner_product(&rows[i * width], &rows[i * width] + width,
                                       &weight[c * width], double{bias[c]});
      const double top = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const double x : logits) sum += std::exp(x - top);
      loss += top + std::log(sum) - logits[labels[i]];
      for (std::int64_t c = 0; c < classes; ++c) {
        const double slope = std::exp(logits[c] - top) / sum - (c == labels[i] ? 1 : 0);
        for (std::int64_t j = 0; j < width; ++j)
          gradient[c * width + j] += slope * rows[i * width + j];
        gradient[classes * width + c] += slope;
      }
    }
    return loss;
  }
};

double norm(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

void expect_naive(const SoftmaxProblem& problem, std::int64_t begin, std::int64_t end) {
  std::vector<double> expected(problem.classes * (problem.width + 1), 0.0), found = expected;
  const double loss = problem.naive(begin, end, expected);
  const double got = softmax_pass(problem.job(), begin, end, found.data(),
                                  found.data() + problem.classes * problem.width);
  EXPECT_NEAR(got, loss, 1e-5 * (1 + loss));
  for (std::size_t i = 0; i < found.size(); ++i) found[i] -= expected[i];
  EXPECT_LE(norm(found), 1e-5 * norm(expected) + 1e-7);
}

TEST(SoftmaxKernel, EqualsTheDefinitionOnEveryInstructionSet) {
  for (const auto& isa : instruction_sets()) {
    force_instruction_set(isa);
    for (const std::int64_t classes : {1, 2, 4, 5, 6, 10, 13, 101}) {
      for (const std::int64_t n : {1, 2, 31, 32, 33, 300}) {
        SCOPED_TRACE(isa + ", " + std::to_string(classes) + " classes, " + std::to_string(n) +
                     " rows");
        expect_naive(SoftmaxProblem(n, classes, 48, 0.5f), 0, n);
      }
    }
  }
  force_instruction_set("");
}

TEST(SoftmaxKernel, TakesARangeOfRows) { expect_naive(SoftmaxProblem(100, 7, 16, 1.0f), 13, 78); }

TEST(SoftmaxKernel, IsSafeAtExtremeLogits) {
  expect_naive(SoftmaxProblem(40, 7, 32, 60.0f), 0, 40);
}

}  // namespace
}  // namespace cpl::simd
