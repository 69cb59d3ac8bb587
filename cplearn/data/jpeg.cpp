#include "cplearn/data/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstring>
#include <utility>

#include <jpeglib.h>

namespace cpl {
namespace {

// libjpeg reports through this: its own handler would end the process.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf escape;
  char text[JMSG_LENGTH_MAX];
};

JpegErrors& errors_of(j_common_ptr codec) { return *reinterpret_cast<JpegErrors*>(codec->err); }

void on_error(j_common_ptr codec) {
  JpegErrors& errors = errors_of(codec);
  errors.manager.format_message(codec, errors.text);
  std::longjmp(errors.escape, 1);
}

// Level -1 is a warning: data was damaged and libjpeg made up pixels. Higher levels are traces.
void on_message(j_common_ptr codec, int level) {
  if (level < 0) on_error(codec);
}

// The part between setjmp and longjmp: no C++ object with a destructor may live in this frame.
// Returns false with the reason in errors.text.
bool run(jpeg_decompress_struct& codec, JpegErrors& errors, const std::vector<std::uint8_t>& bytes,
         const DecodeOptions& options, Image& image, int& orientation) {
  if (setjmp(errors.escape)) return false;
  jpeg_create_decompress(&codec);
  jpeg_save_markers(&codec, JPEG_APP0 + 1, 0xFFFF);
  jpeg_mem_src(&codec, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&codec, TRUE);

  const std::int64_t pixels = std::int64_t{codec.image_width} * codec.image_height;
  if (pixels > options.max_pixels) {
    std::snprintf(errors.text, sizeof errors.text,
                  "claims %u x %u pixels, more than the limit of %lld", codec.image_width,
                  codec.image_height, static_cast<long long>(options.max_pixels));
    return false;
  }
  const bool cmyk = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
  codec.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  if (options.min_side > 0) {
    const std::int64_t side = std::min(codec.image_width, codec.image_height);
    codec.scale_num = codec.scale_denom = 8;
    while (codec.scale_num > 1 && side * (codec.scale_num / 2) / 8 >= options.min_side) {
      codec.scale_num /= 2;
    }
  }
  for (jpeg_saved_marker_ptr marker = codec.marker_list; marker; marker = marker->next) {
    const int found = exif_orientation(marker->data, marker->data_length);
    if (found != 1) orientation = found;
  }

  jpeg_start_decompress(&codec);
  image.resize(static_cast<int>(codec.output_width), static_cast<int>(codec.output_height));
  // CMYK rows (4 bytes a pixel) pass through memory of libjpeg's, freed with the codec.
  JSAMPARRAY wide = nullptr;
  if (cmyk) {
    wide = codec.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&codec), JPOOL_IMAGE,
                                   codec.output_width * 4, 1);
  }
  while (codec.output_scanline < codec.output_height) {
    std::uint8_t* row = image.row(static_cast<int>(codec.output_scanline));
    if (!cmyk) {
      jpeg_read_scanlines(&codec, &row, 1);
      continue;
    }
    jpeg_read_scanlines(&codec, wide, 1);
    const int ink = codec.saw_Adobe_marker ? 0 : 255;  // Adobe stores CMYK inverted: 255 is no ink
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* in = wide[0] + 4 * x;
      for (int c = 0; c < 3; ++c) {
        row[3 * x + c] = static_cast<std::uint8_t>((in[c] ^ ink) * (in[3] ^ ink) / 255);
      }
    }
  }
  jpeg_finish_decompress(&codec);
  return true;
}

}  // namespace

void decode_jpeg(const std::vector<std::uint8_t>& bytes, const std::string& file,
                 const DecodeOptions& options, Image& image) {
  jpeg_decompress_struct codec{};
  JpegErrors errors{};
  codec.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.emit_message = on_message;
  struct Destroy {
    jpeg_decompress_struct& codec;
    ~Destroy() { jpeg_destroy_decompress(&codec); }
  } destroy{codec};
  int orientation = 1;
  const bool good = run(codec, errors, bytes, options, image, orientation);
  if (!good) throw BadImage(file, str("damaged JPEG: ", errors.text));
  apply_orientation(orientation, image);
}

int exif_orientation(const std::uint8_t* segment, std::size_t size) {
  constexpr std::size_t kHeader = 6;  // "Exif\0\0", then a TIFF structure
  if (size < kHeader + 8 || std::memcmp(segment, "Exif\0\0", kHeader) != 0) return 1;
  const std::uint8_t* tiff = segment + kHeader;
  const std::size_t length = size - kHeader;
  const bool little = tiff[0] == 'I';
  const auto number = [&](std::size_t at, int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | tiff[at + (little ? count - 1 - i : i)];
    return value;
  };
  const std::size_t directory = number(4, 4);
  if (directory + 2 > length) return 1;
  const std::uint32_t entries = number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (entry + 12 > length) break;
    if (number(entry, 2) != 0x0112) continue;
    const std::uint32_t value = number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

void apply_orientation(int orientation, Image& image) {
  if (orientation <= 1 || orientation > 8) return;
  // Which stored pixel stands at (x, y) of the upright picture: an optional transpose, then
  // mirrors.
  const bool transpose = orientation >= 5;
  const bool mirror_x =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image upright(transpose ? image.height : image.width, transpose ? image.width : image.height);
  for (int y = 0; y < upright.height; ++y) {
    std::uint8_t* out = upright.row(y);
    for (int x = 0; x < upright.width; ++x, out += 3) {
      int sx = transpose ? y : x;
      int sy = transpose ? x : y;
      if (mirror_x) sx = image.width - 1 - sx;
      if (mirror_y) sy = image.height - 1 - sy;
      std::memcpy(out, image.row(sy) + 3 * sx, 3);
    }
  }
  std::swap(image, upright);
}

}  // namespace cpl
