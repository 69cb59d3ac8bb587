#pragma once
// Shared by the tests of data/: small pictures, and errors that must say things.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <opencv2/imgcodecs.hpp>

#include "cplearn/base/random.h"
#include "cplearn/data/image.h"
#include "tests/temporary_folder.h"

namespace cpl::test {

// A smooth picture with a little noise, different for each seed.
inline Image picture(int width, int height, std::uint64_t seed = 0) {
  Random random(seed, Stream::kEval);
  const int a = int(random.below(200)), b = int(random.below(200)), c = int(random.below(200));
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* p = image.row(y) + 3 * x;
      p[0] = std::uint8_t(a + 55 * x / width);
      p[1] = std::uint8_t(b + 55 * y / height);
      p[2] = std::uint8_t(c + random.below(20));
    }
  }
  return image;
}

// The picture in the format that `extension` names, for instance ".jpg".
inline std::vector<std::uint8_t> encoded(const Image& image, const std::string& extension) {
  cv::Mat bgr(image.height, image.width, CV_8UC3);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    for (std::size_t c = 0; c < 3; ++c) bgr.data[i + c] = image.pixels[i + 2 - c];
  }
  std::vector<std::uint8_t> bytes;
  cv::imencode(extension, bgr, bytes);
  return bytes;
}

// Runs `action`, which must throw a cpl::Error whose text contains all of `parts`.
inline void expect_error(const std::function<void()>& action,
                         const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "expected an error that says '" << parts.front() << "'";
  } catch (const Error& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
    }
  }
}

}  // namespace cpl::test
