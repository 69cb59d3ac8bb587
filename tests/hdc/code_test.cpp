#include "cplearn/hdc/code.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(Code, BindIsItsOwnInverseAndUnlikeItsFactors) {
  for (const std::int64_t width : {1, 7, 64, 100, 1000}) {
    const Code a = Code::random(width, 1, 0), b = Code::random(width, 1, 1);
    EXPECT_EQ(bind(bind(a, b), b), a);
    EXPECT_EQ(bind(a, b), bind(b, a));
    EXPECT_EQ(bind(a, Code(width)), a);
    for (std::int64_t k = 0; k < width; ++k) EXPECT_EQ(bind(a, b).sign(k), a.sign(k) * b.sign(k));
  }
  const Code a = Code::random(10000, 1, 0), b = Code::random(10000, 1, 1);
  EXPECT_LT(std::abs(similarity(bind(a, b), a)), 0.05);
}

TEST(Code, BundleIsTheMajorityAndLikeItsParts) {
  std::vector<Code> parts;
  for (std::uint64_t i = 0; i < 5; ++i) parts.push_back(Code::random(10000, 3, i));
  const Code sum = bundle(parts);
  for (std::int64_t k = 0; k < 200; ++k) {
    int total = 0;
    for (const Code& part : parts) total += part.sign(k);
    EXPECT_EQ(sum.sign(k), total > 0 ? 1 : -1);
  }
  // Majority of five: each part agrees with probability 1/2 + C(4,2)/2^5 = 11/16.
  for (const Code& part : parts) EXPECT_NEAR(similarity(sum, part), 2 * 11.0 / 16 - 1, 0.05);
  EXPECT_LT(std::abs(similarity(sum, Code::random(10000, 3, 9))), 0.05);
}

TEST(Code, BundleBreaksTiesByTheSeedAlone) {
  const Code a = Code::random(1000, 1, 0), b = Code::random(1000, 1, 1);
  EXPECT_EQ(bundle({a, b}, 5), bundle({b, a}, 5));
  EXPECT_FALSE(bundle({a, b}, 5) == bundle({a, b}, 6));
  EXPECT_NEAR(similarity(bundle({a, b}, 5), a), 0.5, 0.1);
}

TEST(Code, PermuteRotatesAndPreservesSimilarity) {
  for (const std::int64_t width : {1, 7, 64, 129}) {
    const Code a = Code::random(width, 1, 0), b = Code::random(width, 1, 1);
    for (const std::int64_t steps : {-200, -1, 0, 1, 5, 63, 64, 1000}) {
      EXPECT_EQ(permute(permute(a, steps), -steps), a);
      EXPECT_DOUBLE_EQ(similarity(permute(a, steps), permute(b, steps)), similarity(a, b));
    }
    EXPECT_EQ(permute(a, width), a);
    EXPECT_EQ(permute(a, 1).sign(1 % width), a.sign(0));
  }
}

TEST(Code, ARecordGivesBackItsFields) {
  // The classic example of the algebra: a record of three key-value pairs is one code.
  const std::int64_t width = 2048;
  std::vector<Code> keys, values;
  for (std::uint64_t i = 0; i < 3; ++i) {
    keys.push_back(Code::random(width, 7, i));
    values.push_back(Code::random(width, 8, i));
  }
  const Code record =
      bundle({bind(keys[0], values[0]), bind(keys[1], values[1]), bind(keys[2], values[2])});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const double s = similarity(bind(record, keys[i]), values[j]);
      EXPECT_EQ(s > 0.3, i == j) << i << " " << j << " " << s;
    }
  }
}

TEST(Code, RefusesDifferentWidths) {
  const Code a(8), b(9);
  EXPECT_THROW(bind(a, b), Error);
  EXPECT_THROW(similarity(a, b), Error);
  EXPECT_THROW(bundle({a, b}), Error);
  EXPECT_THROW(bundle({}), Error);
  EXPECT_THROW(Code(0), Error);
}

}  // namespace
}  // namespace cpl
