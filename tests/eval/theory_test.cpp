#include "cplearn/eval/theory.h"

#include <gtest/gtest.h>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(Theory, EveryStatementHoldsForManyShapesAndSeeds) {
  for (const std::int64_t width : {4, 12, 20, 64, 96}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      TheoryOptions options;
      options.width = width;
      options.batch = 2 * width;
      options.beta = 0.3;
      options.seed = seed;
      for (const TheoryCheck& check : check_theory(options)) {
        EXPECT_TRUE(check.holds()) << width << " " << check.statement << ": " << check.what
                                   << ", expected " << check.expected << ", found " << check.found;
      }
    }
  }
}

TEST(Theory, RefusesShapesWithoutAnOptimum) {
  TheoryOptions options;
  options.width = 50;
  EXPECT_THROW(check_theory(options), Error);
  options.width = 64;
  options.batch = 100;
  EXPECT_THROW(check_theory(options), Error);
}

}  // namespace
}  // namespace cpl
