#include "cplearn/data/image_header.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace cpl {
namespace {

// Bounds-checked integers of either byte order; past the end they are 0.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint32_t little(std::size_t at, int count) const {
    std::uint32_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | byte(at + i);
    return value;
  }
  std::uint32_t big(std::size_t at, int count) const {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | byte(at + i);
    return value;
  }
  bool starts(std::string_view text, std::size_t at = 0) const {
    return size_ >= at + text.size() && std::memcmp(data_ + at, text.data(), text.size()) == 0;
  }
  std::uint8_t byte(std::size_t at) const { return at < size_ ? data_[at] : 0; }
  std::size_t size() const { return size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

ImageHeader webp(const Bytes& in) {
  ImageHeader header{ImageFormat::kWebp, 0, 0};
  if (in.starts("VP8X", 12)) {
    header.width = in.little(24, 3) + 1;
    header.height = in.little(27, 3) + 1;
  } else if (in.starts("VP8L", 12)) {
    const std::uint32_t bits = in.little(21, 4);
    header.width = (bits & 0x3FFF) + 1;
    header.height = (bits >> 14 & 0x3FFF) + 1;
  } else {
    header.width = in.little(26, 2) & 0x3FFF;
    header.height = in.little(28, 2) & 0x3FFF;
  }
  return header;
}

// The first directory's ImageWidth (256) and ImageLength (257).
ImageHeader tiff(const Bytes& in) {
  ImageHeader header{ImageFormat::kTiff, 0, 0};
  const bool little = in.starts("II");
  const auto number = [&](std::size_t at, int count) {
    return little ? in.little(at, count) : in.big(at, count);
  };
  const std::size_t directory = number(4, 4);
  const std::uint32_t entries = number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (entry + 12 > in.size()) break;
    const std::uint32_t tag = number(entry, 2);
    const std::uint32_t value = number(entry + 8, number(entry + 2, 2) == 3 ? 2 : 4);
    if (tag == 256) header.width = value;
    if (tag == 257) header.height = value;
  }
  return header;
}

// "P6 640 480 255": numbers separated by white space and comments.
ImageHeader ppm(const Bytes& in) {
  ImageHeader header{ImageFormat::kPpm, 0, 0};
  std::size_t at = 2;
  for (std::int64_t* number : {&header.width, &header.height}) {
    while (at < in.size() && !std::isdigit(in.byte(at))) {
      if (in.byte(at) == '#') {
        while (at < in.size() && in.byte(at) != '\n') ++at;
      } else {
        ++at;
      }
    }
    for (; std::isdigit(in.byte(at)) && *number < 1'000'000'000; ++at) {
      *number = *number * 10 + (in.byte(at) - '0');
    }
  }
  return header;
}

}  // namespace

const char* format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kWebp:
      return "WebP";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kPpm:
      return "PPM";
    case ImageFormat::kUnknown:
      break;
  }
  return "unknown";
}

bool has_image_extension(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.size() - dot > 5) return false;
  std::string extension = path.substr(dot + 1);
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* known :
       {"jpg", "jpeg", "png", "bmp", "webp", "tif", "tiff", "ppm", "pgm", "pnm"}) {
    if (extension == known) return true;
  }
  return false;
}

ImageHeader read_image_header(const std::uint8_t* bytes, std::size_t size) {
  const Bytes in(bytes, size);
  if (in.starts("\xFF\xD8\xFF")) return {ImageFormat::kJpeg, 0, 0};
  if (in.starts("\x89PNG\r\n\x1A\n")) return {ImageFormat::kPng, in.big(16, 4), in.big(20, 4)};
  if (in.starts("BM")) {
    // Heights are negative when rows run top to bottom. The first BMP version has 16-bit sizes.
    if (in.little(14, 4) == 12) return {ImageFormat::kBmp, in.little(18, 2), in.little(20, 2)};
    const auto width = static_cast<std::int32_t>(in.little(18, 4));
    const auto height = static_cast<std::int32_t>(in.little(22, 4));
    return {ImageFormat::kBmp, width, std::abs(std::int64_t{height})};
  }
  if (in.starts("RIFF") && in.starts("WEBP", 8)) return webp(in);
  if (in.starts(std::string_view("II\x2A\0", 4)) || in.starts(std::string_view("MM\0\x2A", 4))) {
    return tiff(in);
  }
  if (in.byte(0) == 'P' && in.byte(1) >= '1' && in.byte(1) <= '6' && std::isspace(in.byte(2))) {
    return ppm(in);
  }
  return {};
}

}  // namespace cpl
