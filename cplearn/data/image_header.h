#pragma once
// What the first bytes of a picture file claim, read before anything is allocated for its pixels.

#include <cstddef>
#include <cstdint>
#include <string>

namespace cpl {

enum class ImageFormat { kUnknown, kJpeg, kPng, kBmp, kWebp, kTiff, kPpm };

struct ImageHeader {
  ImageFormat format = ImageFormat::kUnknown;
  std::int64_t width = 0;  // as stored, before any EXIF rotation; 0 when the header is cut short
  std::int64_t height = 0;
};

const char* format_name(ImageFormat format);

// True for file names that end like a picture's (.jpg, .jpeg, .png, .bmp, .webp, .tif, .tiff, .ppm,
// .pgm, .pnm), in any case.
bool has_image_extension(const std::string& path);

// JPEG sizes are left at 0: they stand behind any number of other segments and libjpeg reads them.
ImageHeader read_image_header(const std::uint8_t* bytes, std::size_t size);

}  // namespace cpl
