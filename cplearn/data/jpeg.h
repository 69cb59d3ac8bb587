#pragma once
// JPEG through libjpeg, with its warnings and its fatal errors turned into BadImage.

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/data/decode.h"

namespace cpl {

void decode_jpeg(const std::vector<std::uint8_t>& bytes, const std::string& file,
                 const DecodeOptions& options, Image& image);

// The Orientation tag (1 to 8, 1 when absent or damaged) of an APP1 segment that begins "Exif".
int exif_orientation(const std::uint8_t* segment, std::size_t size);

// Turns and mirrors a picture stored with EXIF orientation 2 to 8 so that it stands upright.
void apply_orientation(int orientation, Image& image);

}  // namespace cpl
