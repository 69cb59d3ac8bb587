#include "cplearn/data/jpeg.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

// An APP1 segment's contents with just the Orientation tag, in either byte order.
std::vector<std::uint8_t> exif(std::uint8_t orientation, bool little) {
  const std::string start = "Exif";
  std::vector<std::uint8_t> segment(start.begin(), start.end());
  segment.insert(segment.end(), {0, 0});
  if (little) {
    segment.insert(segment.end(), {'I',  'I', 42, 0, 8, 0, 0, 0,           1, 0, 0x12,
                                   0x01, 3,   0,  1, 0, 0, 0, orientation, 0, 0, 0});
  } else {
    segment.insert(segment.end(), {'M',  'M', 0, 42, 0, 0, 0, 8, 0,           1, 0x01,
                                   0x12, 0,   3, 0,  0, 0, 1, 0, orientation, 0, 0});
  }
  return segment;
}

TEST(Jpeg, OrientationTag) {
  for (std::uint8_t value = 1; value <= 8; ++value) {
    for (const bool little : {true, false}) {
      const auto segment = exif(value, little);
      EXPECT_EQ(exif_orientation(segment.data(), segment.size()), value);
      for (std::size_t keep = 0; keep < segment.size(); ++keep) {
        const std::vector<std::uint8_t> cut(segment.begin(),
                                            segment.begin() + std::ptrdiff_t(keep));
        exif_orientation(cut.data(), cut.size());  // must not read beyond
      }
    }
  }
  const auto wrong = exif(9, true);
  EXPECT_EQ(exif_orientation(wrong.data(), wrong.size()), 1);
}

// The picture abc/def as each orientation stores it (EXIF 2.3, figure of tag 274).
TEST(Jpeg, EveryOrientationStandsUpright) {
  const char* stored[8] = {"abc/def",  "cba/fed",  "fed/cba",  "def/abc",
                           "ad/be/cf", "cf/be/ad", "fc/eb/da", "da/eb/fc"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string text = stored[orientation - 1];
    const int width = int(text.find('/'));
    Image image(width, 6 / width);
    std::size_t at = 0;
    for (const char letter : text) {
      for (int c = 0; letter != '/' && c < 3; ++c) image.pixels[at++] = std::uint8_t(letter);
    }
    apply_orientation(orientation, image);
    std::string upright;
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) upright += char(image.pixels[i]);
    EXPECT_EQ(image.width, 3) << orientation;
    EXPECT_EQ(upright, "abcdef") << orientation;
  }
}

TEST(Jpeg, OrientationOfAFileIsHonouredAsOpenCvDoes) {
  const auto plain = test::encoded(test::picture(24, 16), ".jpg");
  for (std::uint8_t orientation = 1; orientation <= 8; ++orientation) {
    const auto segment = exif(orientation, orientation % 2 == 0);
    std::vector<std::uint8_t> bytes = {0xFF, 0xD8, 0xFF, 0xE1, 0, std::uint8_t(segment.size() + 2)};
    bytes.insert(bytes.end(), segment.begin(), segment.end());
    bytes.insert(bytes.end(), plain.begin() + 2, plain.end());
    Image image;
    decode_jpeg(bytes, "test", DecodeOptions(), image);
    const cv::Mat bgr = cv::imdecode(bytes, cv::IMREAD_COLOR);
    ASSERT_EQ(image.width, bgr.cols) << int(orientation);
    ASSERT_EQ(image.height, bgr.rows) << int(orientation);
    int worst = 0;
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      worst = std::max(worst, std::abs(image.pixels[i] - bgr.data[i / 3 * 3 + 2 - i % 3]));
    }
    EXPECT_LE(worst, 2) << int(orientation);
  }
}

}  // namespace
}  // namespace cpl
