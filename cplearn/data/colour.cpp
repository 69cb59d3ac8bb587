#include "cplearn/data/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cpl {
namespace {

// ITU-R 601-2 luma, 16-bit fixed point.
inline int luma(const std::uint8_t* p) {
  return (p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + 0x8000) >> 16;
}

// ImagingBlend: in float, cut (not rounded) to a byte.
inline std::uint8_t blend(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
}

// A blend of every byte with the same value depends on the byte only.
void blend_all(Image& image, int from, float factor) {
  std::array<std::uint8_t, 256> table;
  for (int v = 0; v < 256; ++v) table[v] = blend(from, v, factor);
  for (std::uint8_t& byte : image.pixels) byte = table[byte];
}

}  // namespace

void adjust_brightness(Image& image, float factor) { blend_all(image, 0, factor); }

void adjust_contrast(Image& image, float factor) {
  std::int64_t sum = 0;
  const std::uint8_t* end = image.pixels.data() + image.pixels.size();
  for (const std::uint8_t* p = image.pixels.data(); p != end; p += 3) sum += luma(p);
  const double mean = static_cast<double>(sum) / (static_cast<double>(image.pixels.size()) / 3);
  blend_all(image, static_cast<int>(std::lround(mean)), factor);
}

void adjust_saturation(Image& image, float factor) {
  std::uint8_t* end = image.pixels.data() + image.pixels.size();
  for (std::uint8_t* p = image.pixels.data(); p != end; p += 3) {
    const int grey = luma(p);
    for (int c = 0; c < 3; ++c) p[c] = blend(grey, p[c], factor);
  }
}

void adjust_hue(Image& image, float turn) {
  // np.uint8(turn * 255): cut towards zero, then modulo 256.
  const int shift = static_cast<int>(static_cast<double>(turn) * 255) & 255;
  std::uint8_t* end = image.pixels.data() + image.pixels.size();
  for (std::uint8_t* p = image.pixels.data(); p != end; p += 3) {
    const int r = p[0], g = p[1], b = p[2];
    const int high = std::max({r, g, b});
    const int low = std::min({r, g, b});
    if (high == low) continue;  // grey has no hue
    const float range = static_cast<float>(high - low);
    const float rc = static_cast<float>(high - r) / range;
    const float gc = static_cast<float>(high - g) / range;
    const float bc = static_cast<float>(high - b) / range;
    float h;
    if (r == high) {
      h = bc - gc;
    } else if (g == high) {
      h = static_cast<float>(2.0 + rc - bc);
    } else {
      h = static_cast<float>(4.0 + gc - rc);
    }
    // fmod(h / 6 + 1, 1) for h in [-1, 5]
    const double lifted = h / 6.0 + 1.0;
    h = static_cast<float>(lifted >= 1.0 ? lifted - 1.0 : lifted);
    const int hue = (static_cast<int>(h * 255.0) + shift) & 255;
    const int saturation = static_cast<int>(range / static_cast<float>(high) * 255.0);
    if (saturation == 0) {
      p[0] = p[1] = p[2] = static_cast<std::uint8_t>(high);
      continue;
    }
    const float angle = static_cast<float>(hue) * 6.0f / 255.0f;
    const int sector = static_cast<int>(angle);
    const float f = angle - static_cast<float>(sector);
    const float s = static_cast<float>(saturation) / 255.0f;
    // Rounding a float of this range through double is exact, and no call into the C library.
    const auto byte = [high](float share) {
      const double value = static_cast<float>(high) * (1.0f - share);
      return static_cast<std::uint8_t>(value + 0.5);  // NOLINT(bugprone-incorrect-roundings)
    };
    const std::uint8_t v = static_cast<std::uint8_t>(high);
    const std::uint8_t x = byte(s), q = byte(s * f), t = byte(s * (1.0f - f));
    switch (sector % 6) {
      case 0:
        p[0] = v, p[1] = t, p[2] = x;
        break;
      case 1:
        p[0] = q, p[1] = v, p[2] = x;
        break;
      case 2:
        p[0] = x, p[1] = v, p[2] = t;
        break;
      case 3:
        p[0] = x, p[1] = q, p[2] = v;
        break;
      case 4:
        p[0] = t, p[1] = x, p[2] = v;
        break;
      default:
        p[0] = v, p[1] = x, p[2] = q;
        break;
    }
  }
}

void to_gray(Image& image) {
  std::uint8_t* end = image.pixels.data() + image.pixels.size();
  for (std::uint8_t* p = image.pixels.data(); p != end; p += 3) {
    p[0] = p[1] = p[2] = static_cast<std::uint8_t>(luma(p));
  }
}

void solarise(Image& image, int threshold) {
  for (std::uint8_t& byte : image.pixels) {
    if (byte >= threshold) byte = static_cast<std::uint8_t>(255 - byte);
  }
}

}  // namespace cpl
