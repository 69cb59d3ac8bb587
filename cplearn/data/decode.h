#pragma once
// Picture files to 8-bit RGB: JPEG, PNG, BMP, WebP, TIFF, PPM; grey, palette, alpha (dropped) and
// 16 bits are converted; EXIF orientation is honoured. Whatever is wrong with a file, the result is
// a BadImage that names it. Thread-safe.
//
// JPEG goes through libjpeg directly: most truncated JPEGs give a warning only and grey pixels,
// which OpenCV hides. Here a warning means corrupt.

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/data/image.h"

namespace cpl {

struct DecodeOptions {
  // JPEGs may come out 2, 4 or 8 times smaller (computed so in the frequency domain, which is
  // several times faster) as long as the shorter side keeps at least this many pixels. 0: full
  // size.
  int min_side = 0;
  // Refused before allocating. Pillow's limit for "decompression bombs".
  std::int64_t max_pixels = 178'956'970;
};

// `file` is what errors call the picture.
void decode_image(const std::vector<std::uint8_t>& bytes, const std::string& file,
                  const DecodeOptions& options, Image& image);

// `bytes` is working memory, kept so that a caller who decodes many files does not allocate.
void decode_image_file(const std::string& path, const DecodeOptions& options, Image& image,
                       std::vector<std::uint8_t>& bytes);

}  // namespace cpl
