#include "cplearn/data/memory_source.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(MemorySource, TurnsPlanesIntoPixels) {
  std::vector<std::uint8_t> planes(2 * MemorySource::kBytes);
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = std::uint8_t(i * 7);
  const MemorySource source(planes, {1, 0}, {"a", "b"}, "half", "set/train");
  EXPECT_EQ(source.size(), 2u);
  EXPECT_EQ(source.name(1), "set/train/00001");
  EXPECT_FALSE(source.worth_caching());
  Image image;
  source.read(1, image);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      for (int c = 0; c < 3; ++c) {
        const std::size_t at = MemorySource::kBytes + std::size_t(c * 1024 + y * 32 + x);
        ASSERT_EQ(image.row(y)[3 * x + c], planes[at]);
      }
    }
  }
}

TEST(MemorySource, RefusesInconsistentData) {
  const auto make = [](std::size_t bytes, std::uint8_t label) {
    MemorySource(std::vector<std::uint8_t>(bytes), {label}, {"a", "b"}, "half", "set");
  };
  test::expect_error([&] { make(100, 0); }, {"100 bytes", "1 labels"});
  test::expect_error([&] { make(3072, 2); }, {"set/00000", "label 2"});
}

}  // namespace
}  // namespace cpl
