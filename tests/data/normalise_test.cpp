#include "cplearn/data/normalise.h"

#include <cmath>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(Normalise, TableIsStandardNormal) {
  const std::vector<float>& table = normal_table();
  ASSERT_EQ(table.size(), 65536u);
  double moments[5] = {};
  for (const float z : table) {
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(double(z), k) / 65536;
  }
  EXPECT_NEAR(moments[1], 0, 1e-9);
  EXPECT_NEAR(moments[2], 1, 1e-6);
  EXPECT_NEAR(moments[3], 0, 1e-9);
  EXPECT_NEAR(moments[4], 3, 1e-2);  // the last slice of each tail is one number
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end()));
  EXPECT_NEAR(table[65536 * 975 / 1000], 1.95996, 1e-3);
  EXPECT_GT(table.back(), 4.2f);
}

TEST(Normalise, WritesTorchvisionsFloatsInBothLayouts) {
  const Image image = test::picture(9, 7);
  const Normalisation& norm = find_normalisation("cifar10");
  const PixelWriter writer(norm);
  const Box box{2, 1, 5, 4};
  std::vector<float> last(60), first(60), flipped(60);
  Random random(1, Stream::kAugment);
  writer.write(image, box, false, 0, random, Layout::kChannelsLast, last.data());
  writer.write(image, box, false, 0, random, Layout::kChannelsFirst, first.data());
  writer.write(image, box, true, 0, random, Layout::kChannelsLast, flipped.data());
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        const float value = float(image.row(y + 1)[3 * (x + 2) + c]) / 255.0f;
        const float expected = (value - norm.mean[c]) / norm.std[c];
        EXPECT_EQ(last[(y * 5 + x) * 3 + c], expected);
        EXPECT_EQ(first[c * 20 + y * 5 + x], expected);
        EXPECT_EQ(flipped[(y * 5 + 4 - x) * 3 + c], expected);
      }
    }
  }
  Image back(5, 4), expected;
  writer.restore(last.data(), back);
  crop(image, box, expected);
  EXPECT_EQ(back.pixels, expected.pixels);
}

TEST(Normalise, NoiseHasItsStrengthAndDoesNotDependOnLayout) {
  Image image(64, 64);
  const PixelWriter writer(find_normalisation("half"));
  const int plane = 64 * 64;
  std::vector<float> last(3 * plane), first(3 * plane);
  Random a(5, Stream::kAugment), b(5, Stream::kAugment);
  writer.write(image, {0, 0, 64, 64}, false, 0.03f, a, Layout::kChannelsLast, last.data());
  writer.write(image, {0, 0, 64, 64}, false, 0.03f, b, Layout::kChannelsFirst, first.data());
  double sum = 0, squares = 0;
  for (int i = 0; i < plane; ++i) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(last[3 * i + c], first[c * plane + i]);
      const double noise = last[3 * i + c] + 1.0;  // black is -1
      sum += noise;
      squares += noise * noise;
    }
  }
  EXPECT_NEAR(sum / (3 * plane), 0, 0.001);
  EXPECT_NEAR(std::sqrt(squares / (3 * plane)), 0.03, 0.001);
}

TEST(Normalise, UnknownNameListsTheCandidates) {
  test::expect_error([] { find_normalisation("cifar"); }, {"'cifar'", "cifar10", "svhn-paper"});
}

}  // namespace
}  // namespace cpl
