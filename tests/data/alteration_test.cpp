#include "cplearn/data/alteration.h"

#include <cmath>
#include <map>
#include <set>

#include "cplearn/data/dataset.h"
#include "tests/data/helpers.h"

namespace cpl {
namespace {

std::unique_ptr<Dataset> opened(const std::string& spec) {
  return open_dataset(spec, DatasetOptions());
}

Image loaded(const Dataset& data, std::size_t index) {
  Image image;
  data.load(index, image);
  return image;
}

std::map<int, int> count_by_class(const Dataset& data) {
  std::map<int, int> counts;
  for (std::size_t i = 0; i < data.size(); ++i) ++counts[data.label(i)];
  return counts;
}

TEST(Alteration, GreyImagesHaveEqualChannels) {
  const auto data = opened("shapes:20+grey");
  for (std::size_t i = 0; i < data->size(); ++i) {
    const Image image = loaded(*data, i);
    for (std::size_t p = 0; p < image.pixels.size(); p += 3) {
      ASSERT_EQ(image.pixels[p], image.pixels[p + 1]);
      ASSERT_EQ(image.pixels[p], image.pixels[p + 2]);
    }
  }
}

TEST(Alteration, NoiseIsTheSameEveryTimeAndAsStrongAsSaid) {
  const auto plain = opened("shapes:50"), noisy = opened("shapes:50+noisy"),
             again = opened("shapes:50+noisy");
  double squares = 0, count = 0;
  for (std::size_t i = 0; i < plain->size(); ++i) {
    const Image before = loaded(*plain, i), after = loaded(*noisy, i);
    EXPECT_EQ(after.pixels, loaded(*again, i).pixels);
    for (std::size_t p = 0; p < before.pixels.size(); ++p) {
      if (before.pixels[p] < 110 || before.pixels[p] > 145) continue;  // far from both ends
      squares += std::pow(static_cast<double>(after.pixels[p]) - before.pixels[p], 2);
      ++count;
    }
  }
  ASSERT_GT(count, 1000);
  EXPECT_NEAR(std::sqrt(squares / count), 49, 2);  // 50, but for what is cut off
}

TEST(Alteration, AugmentedImagesKeepTheirSizeAndDiffer) {
  const auto plain = opened("shapes:20"), changed = opened("shapes:20+augmented");
  for (std::size_t i = 0; i < plain->size(); ++i) {
    const Image before = loaded(*plain, i), after = loaded(*changed, i);
    EXPECT_EQ(after.width, before.width);
    EXPECT_EQ(after.height, before.height);
    EXPECT_NE(after.pixels, before.pixels);
    EXPECT_EQ(changed->label(i), plain->label(i));
  }
}

TEST(Alteration, DuplicatedImagesAreThereSixteenTimes) {
  const auto data = opened("shapes:200#160+duplicated");
  ASSERT_EQ(data->size(), 160u);
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < data->size(); ++i) ++counts[data->name(i)];
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [name, count] : counts) EXPECT_EQ(count, 16) << name;
  EXPECT_EQ(loaded(*data, 0).pixels, loaded(*data, 10).pixels);
}

TEST(Alteration, ClassesAreChosen) {
  EXPECT_EQ(count_by_class(*opened("shapes:400+one-class")).size(), 1u);
  const auto counts = count_by_class(*opened("shapes:4000#2000+unbalanced"));
  ASSERT_GT(counts.size(), 5u);
  for (int k = 1; k < 5; ++k)
    EXPECT_NEAR(counts.at(k), counts.at(k - 1) / 2.0, 0.35 * counts.at(k - 1)) << k;
}

TEST(Alteration, AnUnknownNameIsNamed) {
  test::expect_error([] { opened("shapes:40@train+gray"); }, {"'gray'", "did you mean 'grey'"});
  test::TemporaryFolder folder;
  folder.write("a+b/x.jpg", test::encoded(test::picture(9, 9), ".jpg"));
  EXPECT_EQ(opened(folder.path() + "/a+b")->size(), 1u);  // a folder may be called so
  EXPECT_EQ(opened(folder.path() + "/a+b#1+grey")->size(), 1u);
}

}  // namespace
}  // namespace cpl
