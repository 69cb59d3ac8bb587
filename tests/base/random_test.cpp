#include "cplearn/base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace cpl {
namespace {

// Known answers of Random123 (kat_vectors, philox4x32 10).
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Philox4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Philox4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Philox4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsAndCoordinatesDiffer) {
  const auto first = [](Random r) { return r.bits64(); };
  const std::vector<std::uint64_t> draws = {
      first(Random(1, Stream::kShuffle)), first(Random(1, Stream::kAugment)),
      first(Random(2, Stream::kShuffle)), first(Random(1, Stream::kShuffle, 1)),
      first(Random(1, Stream::kShuffle, 0, 1))};
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(draws[i], draws[j]) << i << " " << j;
  }
  EXPECT_EQ(first(Random(1, Stream::kShuffle)), draws[0]);
}

TEST(Random, MomentsAreRight) {
  Random random(3, Stream::kTheory);
  const int count = 200000;
  double uniform = 0, normal = 0, square = 0;
  std::vector<int> faces(6);
  for (int i = 0; i < count; ++i) {
    uniform += random.uniform();
    const double z = random.normal();
    normal += z;
    square += z * z;
    ++faces[random.below(6)];
  }
  EXPECT_NEAR(uniform / count, 0.5, 0.004);
  EXPECT_NEAR(normal / count, 0.0, 0.01);
  EXPECT_NEAR(square / count, 1.0, 0.02);
  for (const int face : faces) EXPECT_NEAR(face, count / 6, 800);
}

}  // namespace
}  // namespace cpl
