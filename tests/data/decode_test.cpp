#include "cplearn/data/decode.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

Image decoded(const std::vector<std::uint8_t>& bytes, int min_side = 0) {
  DecodeOptions options;
  options.min_side = min_side;
  Image image;
  decode_image(bytes, "test", options, image);
  return image;
}

// Root mean square difference in levels.
double difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::pow(a.pixels[i] - b.pixels[i], 2);
  return std::sqrt(sum / double(a.pixels.size()));
}

void expect_bad(const std::vector<std::uint8_t>& bytes, const std::string& reason) {
  try {
    decoded(bytes);
    ADD_FAILURE() << "expected: " << reason;
  } catch (const BadImage& bad) {
    EXPECT_EQ(bad.file(), "test");
    EXPECT_NE(bad.reason().find(reason), std::string::npos) << bad.reason();
  }
}

TEST(Decode, EveryFormat) {
  const Image image = test::picture(41, 30);
  for (const char* extension : {".png", ".bmp", ".tiff", ".ppm"}) {
    EXPECT_EQ(decoded(test::encoded(image, extension)).pixels, image.pixels) << extension;
  }
  for (const char* extension : {".jpg", ".webp"}) {
    EXPECT_LT(difference(decoded(test::encoded(image, extension)), image), 8) << extension;
  }
}

TEST(Decode, GreyAlphaAndSixteenBits) {
  cv::Mat grey(5, 4, CV_8UC1, cv::Scalar(99)), alpha(5, 4, CV_8UC4, cv::Scalar(10, 20, 30, 0)),
      deep(5, 4, CV_16UC3, cv::Scalar(10 * 257, 20 * 257, 30 * 257));
  std::vector<std::uint8_t> bytes;
  for (const char* extension : {".png", ".tiff", ".jpg"}) {
    cv::imencode(extension, grey, bytes);
    EXPECT_EQ(decoded(bytes).pixels, std::vector<std::uint8_t>(60, 99)) << extension;
  }
  for (const cv::Mat& mat : {alpha, deep}) {
    cv::imencode(".png", mat, bytes);
    const Image image = decoded(bytes);
    EXPECT_EQ(image.pixels[0], 30);
    EXPECT_EQ(image.pixels[1], 20);
    EXPECT_EQ(image.pixels[2], 10);
  }
}

TEST(Decode, JpegsComeSmallerWhenAsked) {
  const auto bytes = test::encoded(test::picture(400, 320), ".jpg");
  EXPECT_EQ(decoded(bytes).width, 400);
  EXPECT_EQ(decoded(bytes, 320).width, 400);
  EXPECT_EQ(decoded(bytes, 161).width, 400);
  EXPECT_EQ(decoded(bytes, 160).width, 200);
  EXPECT_EQ(decoded(bytes, 80).width, 100);
  EXPECT_EQ(decoded(bytes, 10).width, 50);
  EXPECT_EQ(decoded(bytes, 1000).width, 400);
}

TEST(Decode, TruncatedAnywhereIsBad) {
  const Image image = test::picture(64, 48);
  for (const char* extension : {".jpg", ".png", ".webp", ".bmp"}) {
    const std::vector<std::uint8_t> whole = test::encoded(image, extension);
    for (std::size_t keep = 0; keep + 16 < whole.size(); keep += 1 + whole.size() / 25) {
      const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + std::ptrdiff_t(keep));
      EXPECT_THROW(decoded(part), BadImage) << extension << " " << keep << " of " << whole.size();
    }
  }
}

TEST(Decode, DamageNeverCrashes) {
  Random random(1, Stream::kEval);
  for (const char* extension : {".jpg", ".png", ".webp", ".tiff", ".bmp", ".ppm"}) {
    const std::vector<std::uint8_t> whole = test::encoded(test::picture(40, 30), extension);
    for (int i = 0; i < 60; ++i) {
      std::vector<std::uint8_t> bytes = whole;
      for (int k = 0; k < 4; ++k) {
        const auto size = std::uint32_t(std::min<std::size_t>(bytes.size(), i % 2 ? 1u << 30 : 64));
        bytes[random.below(size)] = std::uint8_t(random());
      }
      try {
        decoded(bytes);
      } catch (const BadImage&) {
      }
    }
  }
}

TEST(Decode, ReasonsAreGiven) {
  const std::string text = "This is a text file.";
  expect_bad({text.begin(), text.end()}, "begins \"This is a text f\"");
  expect_bad({}, "0 bytes");
  std::vector<std::uint8_t> jpeg = test::encoded(test::picture(64, 48), ".jpg");
  jpeg.resize(jpeg.size() / 2);
  expect_bad(jpeg, "damaged JPEG: Premature end");
}

TEST(Decode, HugeClaimsAreRefusedBeforeAllocating) {
  std::vector<std::uint8_t> png = test::encoded(test::picture(8, 8), ".png");
  for (int i = 0; i < 8; ++i) png[std::size_t{16} + std::size_t(i)] = i % 4 == 0 ? 0 : 0xFF;
  expect_bad(png, "claims 16777215 x 16777215");
  std::vector<std::uint8_t> jpeg = test::encoded(test::picture(8, 8), ".jpg");
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) {
      for (std::size_t k = 5; k < 9; ++k) jpeg[i + k] = 0xF0;  // height and width
      break;
    }
  }
  expect_bad(jpeg, "claims 61680 x 61680");
  const std::string ppm = "P6 # comment\n100000 100000\n255\n";
  expect_bad({ppm.begin(), ppm.end()}, "claims 100000 x 100000");
}

TEST(Decode, FilesThatCannotBeRead) {
  test::TemporaryFolder folder;
  Image image;
  std::vector<std::uint8_t> bytes;
  const auto read = [&](const std::string& path) {
    return [&, path] { decode_image_file(path, DecodeOptions(), image, bytes); };
  };
  std::filesystem::create_directory(folder.path("x.jpg"));
  test::expect_error(read(folder.path("x.jpg")), {"x.jpg", "is a folder"});
  test::expect_error(read(folder.path("none.jpg")), {"none.jpg", "No such file"});
  folder.write("empty.jpg", std::string());
  test::expect_error(read(folder.path("empty.jpg")), {"empty.jpg", "0 bytes"});
  ASSERT_EQ(mkfifo(folder.path("pipe.jpg").c_str(), 0600), 0);
  test::expect_error(read(folder.path("pipe.jpg")), {"pipe.jpg", "not a regular file"});
  if (geteuid() != 0) {  // the administrator may read everything
    const std::string secret = folder.write("secret.jpg", std::string("x"));
    chmod(secret.c_str(), 0);
    test::expect_error(read(secret), {"secret.jpg", "Permission denied"});
  }
}

}  // namespace
}  // namespace cpl
