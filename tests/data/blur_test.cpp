#include "cplearn/data/blur.h"

#include "tests/data/golden.h"
#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(Blur, EqualsPillow) {
  test::expect_golden({"blur"},
                      [](const std::string&, const std::vector<float>& a, const Image& in) {
                        Image out = in, scratch;
                        gaussian_blur(out, a[0], scratch);
                        return out;
                      });
}

TEST(Blur, WiderThanThePicture) {
  Image image(3, 2), scratch;
  image.pixels.assign(image.pixels.size(), 77);
  gaussian_blur(image, 20.0f, scratch);
  for (const std::uint8_t byte : image.pixels) EXPECT_EQ(byte, 77);
}

}  // namespace
}  // namespace cpl
