#pragma once
// An 8-bit RGB picture in memory, and the error for one that cannot be had.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl {

// Rows top to bottom, pixels left to right, red green blue: [height][width][3], no padding.
// Resizing keeps the memory, so an Image that is reused stops allocating.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;

  Image() = default;
  Image(int w, int h) { resize(w, h); }

  void resize(int w, int h) {
    width = w;
    height = h;
    pixels.resize(std::size_t(w) * h * 3);
  }
  std::uint8_t* row(int y) { return pixels.data() + std::size_t(y) * width * 3; }
  const std::uint8_t* row(int y) const { return pixels.data() + std::size_t(y) * width * 3; }
};

// A picture that cannot be read: which one, and why. Callers may skip it and go on.
class BadImage : public Error {
 public:
  BadImage(const std::string& file, const std::string& reason)
      : Error(file + ": " + reason), file_(file), reason_(reason) {}
  const std::string& file() const { return file_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string file_;
  std::string reason_;
};

}  // namespace cpl
