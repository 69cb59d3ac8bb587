#include "cplearn/data/blur.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cpl {
namespace {

constexpr int kPasses = 3;

// The box radius whose `kPasses`-fold blur has standard deviation sigma. In float, as Pillow's.
float box_radius(float sigma) {
  const float variance = sigma * sigma / kPasses;
  const float length = static_cast<float>(std::sqrt(12.0 * variance + 1.0));
  const float whole = static_cast<float>(std::floor((length - 1.0) / 2.0));
  float part = (2 * whole + 1) * (whole * (whole + 1) - 3 * variance);
  part /= 6 * (variance - (whole + 1) * (whole + 1));
  return whole + part;
}

struct BoxWeights {
  int radius;          // whole pixels on each side with full weight
  std::uint32_t full;  // 8.24 fixed point
  std::uint32_t edge;  // of the one pixel beyond on each side
};

// One line of `size` pixels that lie `step` bytes apart, one colour.
void blur_line(const std::uint8_t* in, std::uint8_t* out, int size, std::ptrdiff_t step,
               const BoxWeights& w) {
  const auto at = [&](int x) -> std::uint32_t { return in[std::clamp(x, 0, size - 1) * step]; };
  std::uint32_t sum = 0;
  for (int x = -w.radius - 1; x < w.radius; ++x) sum += at(x);
  for (int x = 0; x < size; ++x) {
    sum += at(x + w.radius) - at(x - w.radius - 1);
    const std::uint32_t value =
        sum * w.full + (at(x - w.radius - 1) + at(x + w.radius + 1)) * w.edge;
    out[x * step] = static_cast<std::uint8_t>((value + (1u << 23)) >> 24);
  }
}

}  // namespace

void gaussian_blur(Image& image, float sigma, Image& scratch) {
  const float radius = box_radius(sigma);
  if (!(radius > 0)) return;
  BoxWeights w;
  w.radius = static_cast<int>(radius);
  w.full = static_cast<std::uint32_t>((1 << 24) / (radius * 2 + 1));
  w.edge = ((1u << 24) - static_cast<std::uint32_t>(w.radius * 2 + 1) * w.full) / 2;
  scratch.resize(image.width, image.height);
  const std::ptrdiff_t stride = std::ptrdiff_t{3} * image.width;
  for (const bool across : {true, false}) {
    for (int pass = 0; pass < kPasses; ++pass) {
      const int lines = across ? image.height : image.width;
      const int size = across ? image.width : image.height;
      const std::ptrdiff_t between = across ? stride : 3;
      const std::ptrdiff_t step = across ? 3 : stride;
      for (int line = 0; line < lines; ++line) {
        for (int c = 0; c < 3; ++c) {
          const std::ptrdiff_t start = line * between + c;
          blur_line(image.pixels.data() + start, scratch.pixels.data() + start, size, step, w);
        }
      }
      std::swap(image.pixels, scratch.pixels);
    }
  }
}

}  // namespace cpl
