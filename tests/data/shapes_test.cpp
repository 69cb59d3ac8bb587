#include "cplearn/data/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

std::vector<std::uint8_t> drawing(const ShapesSource& source, std::size_t index) {
  Image image;
  source.read(index, image);
  return image.pixels;
}

TEST(Shapes, SizesLabelsAndNames) {
  EXPECT_EQ(ShapesSource(0, "train").size(), 5000u);
  EXPECT_EQ(ShapesSource(0, "test").size(), 1000u);
  const ShapesSource source(30, "train");
  EXPECT_EQ(source.size(), 30u);
  EXPECT_EQ(source.classes().size(), 10u);
  EXPECT_EQ(source.name(7), "shapes/train/00007");
  std::array<int, 10> counts{};
  for (std::size_t i = 0; i < 30; ++i) ++counts[std::size_t(source.label(i))];
  for (const int count : counts) EXPECT_EQ(count, 3);
}

TEST(Shapes, DeterministicAndNeverTheSameTwice) {
  const ShapesSource train(200, "train"), more(500, "train"), held_out(200, "test");
  std::set<std::vector<std::uint8_t>> seen;
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(drawing(train, i), drawing(more, i));
    EXPECT_TRUE(seen.insert(drawing(train, i)).second);
    EXPECT_TRUE(seen.insert(drawing(held_out, i)).second);
  }
}

// The nearest class mean in pixels, the simplest linear classifier, is near chance.
TEST(Shapes, PixelsAloneDoNotTellTheClass) {
  const ShapesSource train(2000, "train"), held_out(1000, "test");
  std::vector<std::vector<double>> means(10, std::vector<double>(3072));
  for (std::size_t i = 0; i < 2000; ++i) {
    const auto pixels = drawing(train, i);
    for (std::size_t k = 0; k < 3072; ++k) means[i % 10][k] += pixels[k] / 200.0;
  }
  int right = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto pixels = drawing(held_out, i);
    std::array<double, 10> distance{};
    for (std::size_t c = 0; c < 10; ++c) {
      for (std::size_t k = 0; k < 3072; ++k) distance[c] += std::pow(pixels[k] - means[c][k], 2);
    }
    right += std::size_t(std::min_element(distance.begin(), distance.end()) - distance.begin()) ==
             i % 10;
  }
  EXPECT_LT(right, 200);  // chance is 100
}

}  // namespace
}  // namespace cpl
