#include "cplearn/eval/code_usage.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/hdc/dictionary.h"

namespace cpl {
namespace {

TEST(CodeUsage, InformationOfHardSoftAndUniform) {
  CodeUsage hard(8);
  hard.add(Labels{0, 1, 2, 3});
  EXPECT_NEAR(hard.information(), std::log(4), 1e-12);
  EXPECT_NEAR(hard.information_limit(), std::log(4), 1e-12);
  EXPECT_NEAR(hard.perplexity(), 4, 1e-12);
  CodeUsage uniform(8);
  uniform.add(at::full({10, 8}, 0.125));
  uniform.add(at::full({6, 8}, 0.125));
  EXPECT_EQ(uniform.points(), 16);
  EXPECT_NEAR(uniform.information(), 0, 1e-7);
  EXPECT_NEAR(uniform.mean_entropy(), std::log(8), 1e-7);
  EXPECT_THROW(hard.add(Labels{8}), Error);
  EXPECT_THROW(hard.add(at::ones({2, 7})), Error);
  EXPECT_THROW(CodeUsage(3).mean(), Error);
}

// The optimum of the lemma: every code matched equally often, eps elsewhere.
CodeUsage optimum(std::int64_t points, std::int64_t codes) {
  const at::Tensor index = at::arange(points, at::kLong).remainder(codes);
  const at::Tensor match = at::one_hot(index, codes).to(at::kDouble);
  CodeUsage usage(codes);
  usage.add(match * (1 - kEpsilon * static_cast<double>(codes)) + kEpsilon);
  return usage;
}

TEST(Certificate, OptimumAttainsTheBound) {
  for (const bool reverse : {true, false}) {
    const CertificateOptions options{0.5, reverse};
    const CodeUsage enough = optimum(60, 20);
    const Certificate full = certificate(enough, enough.mean_entropy(), options);
    EXPECT_NEAR(full.loss, full.bound, 1e-9);
    EXPECT_NEAR(full.attainable, full.bound, 1e-12);
    EXPECT_NEAR(full.information, full.information_limit, 1e-4);

    const CodeUsage few = optimum(8, 20);  // fewer points than codes
    const Certificate part = certificate(few, few.mean_entropy(), options);
    EXPECT_NEAR(part.loss, part.attainable, 1e-9);
    EXPECT_GT(part.attainable, part.bound + 0.5);
    if (reverse) {
      EXPECT_NEAR(part.attainable - part.bound, std::log(20.0 / 8), 1e-5);
    }
  }
}

TEST(Certificate, CollapseStaysAbove) {
  CodeUsage uniform(20), single(20);
  uniform.add(at::full({60, 20}, 0.05));
  single.add(Labels(60, 3));
  for (const CodeUsage* usage : {&uniform, &single}) {
    const Certificate found = certificate(*usage, usage->mean_entropy(), {});
    EXPECT_NEAR(found.information, 0, 1e-6);
    EXPECT_GT(found.loss, found.attainable + 1);
  }
}

}  // namespace
}  // namespace cpl
