#include "cplearn/data/image_cache.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(ImageCache, KeepsASetThatFits) {
  ImageCache cache(10, 10 * (300 + sizeof(Image)));
  Image found;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_FALSE(cache.find(i, found));
    cache.offer(i, test::picture(10, 10, i));
  }
  for (std::size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(cache.find(i, found));
    EXPECT_EQ(found.pixels, test::picture(10, 10, i).pixels);
  }
  const std::size_t bytes = cache.bytes();
  cache.offer(3, test::picture(10, 10, 3));
  EXPECT_EQ(cache.bytes(), bytes);
}

TEST(ImageCache, KeepsNothingOfASetThatDoesNot) {
  ImageCache cache(1000, 10 * (300 + sizeof(Image)));
  Image found;
  for (std::size_t i = 0; i < 10; ++i) cache.offer(i, test::picture(10, 10, i));
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_FALSE(cache.find(0, found));
}

TEST(ImageCache, NeverExceedsItsBudget) {
  ImageCache cache(10, 3000);
  for (std::size_t i = 0; i < 10; ++i) cache.offer(i, test::picture(4, i < 5 ? 4 : 60, i));
  EXPECT_LE(cache.bytes(), 3000u);
}

}  // namespace
}  // namespace cpl
