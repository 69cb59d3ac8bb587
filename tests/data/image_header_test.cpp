#include "cplearn/data/image_header.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

ImageHeader header_of(const std::vector<std::uint8_t>& bytes) {
  return read_image_header(bytes.data(), bytes.size());
}

TEST(ImageHeader, KnowsEveryFormatAndItsSize) {
  const std::pair<const char*, ImageFormat> formats[] = {
      {".png", ImageFormat::kPng},   {".bmp", ImageFormat::kBmp}, {".webp", ImageFormat::kWebp},
      {".tiff", ImageFormat::kTiff}, {".ppm", ImageFormat::kPpm},
  };
  for (const auto& [extension, format] : formats) {
    const ImageHeader header = header_of(test::encoded(test::picture(37, 21), extension));
    EXPECT_EQ(header.format, format) << extension;
    EXPECT_EQ(header.width, 37) << extension;
    EXPECT_EQ(header.height, 21) << extension;
  }
  EXPECT_EQ(header_of(test::encoded(test::picture(37, 21), ".jpg")).format, ImageFormat::kJpeg);
}

TEST(ImageHeader, CutShortOrSomethingElse) {
  for (const char* extension : {".png", ".bmp", ".webp", ".tiff", ".ppm", ".jpg"}) {
    const std::vector<std::uint8_t> whole = test::encoded(test::picture(37, 21), extension);
    for (std::size_t keep = 0; keep < 40; ++keep) {
      header_of({whole.begin(), whole.begin() + std::ptrdiff_t(keep)});  // must not read beyond
    }
  }
  const std::string text = "hello, I am text";
  EXPECT_EQ(header_of({text.begin(), text.end()}).format, ImageFormat::kUnknown);
  EXPECT_EQ(header_of({}).format, ImageFormat::kUnknown);
}

TEST(ImageHeader, Extensions) {
  for (const char* name : {"a.jpg", "b.JPEG", "dir.x/c.Png", "d.tif", "e.webp", "f.pgm"}) {
    EXPECT_TRUE(has_image_extension(name)) << name;
  }
  for (const char* name : {"a.txt", "jpg", "a.jpg.part", "a.", "", "a.gif", "dir.jpg/readme"}) {
    EXPECT_FALSE(has_image_extension(name)) << name;
  }
}

}  // namespace
}  // namespace cpl
