#include "cplearn/data/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cpl {
namespace {

constexpr int kPrecisionBits = 32 - 8 - 2;

// Pillow's kernels and their support (half-width) at scale 1.
double bilinear(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

std::uint8_t to_byte(std::int32_t fixed) {
  return static_cast<std::uint8_t>(std::clamp(fixed >> kPrecisionBits, 0, 255));
}

}  // namespace

void pad_reflect(const Image& in, int border, Image& out) {
  CPL_CHECK(border < in.width && border < in.height, "cannot reflect ", border,
            " pixels around a picture of ", in.width, " x ", in.height,
            ": the border must be smaller");
  out.resize(in.width + 2 * border, in.height + 2 * border);
  for (int y = 0; y < out.height; ++y) {
    int source = std::abs(y - border);
    if (source >= in.height) source = 2 * (in.height - 1) - source;
    const std::uint8_t* from = in.row(source);
    std::uint8_t* to = out.row(y);
    std::memcpy(to + 3 * border, from, std::size_t(3) * in.width);
    for (int x = 1; x <= border; ++x) {
      std::memcpy(to + 3 * (border - x), from + 3 * x, 3);
      std::memcpy(to + 3 * (border + in.width - 1 + x), from + 3 * (in.width - 1 - x), 3);
    }
  }
}

void crop(const Image& in, const Box& box, Image& out) {
  out.resize(box.width, box.height);
  for (int y = 0; y < box.height; ++y) {
    std::memcpy(out.row(y), in.row(box.top + y) + 3 * box.left, std::size_t(3) * box.width);
  }
}

void flip_horizontal(Image& image) {
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* left = image.row(y);
    std::uint8_t* right = left + 3 * (image.width - 1);
    for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
  }
}

void Resizer::Axis::prepare(int in_size, int out_size, Filter filter) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double filter_scale = std::max(scale, 1.0);
  const double support = (filter == Filter::kBilinear ? 1.0 : 2.0) * filter_scale;
  const double inverse = 1.0 / filter_scale;
  taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  first.resize(out_size);
  count.resize(out_size);
  weights.resize(std::size_t(out_size) * taps);
  scratch.resize(taps);
  for (int i = 0; i < out_size; ++i) {
    const double centre = (i + 0.5) * scale;
    // Cut after adding a half, as Pillow does: NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const int begin = std::max(static_cast<int>(centre - support + 0.5), 0);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const int end = std::min(static_cast<int>(centre + support + 0.5), in_size);
    first[i] = begin;
    count[i] = end - begin;
    double sum = 0;
    for (int k = 0; k < count[i]; ++k) {
      const double x = (k + begin - centre + 0.5) * inverse;
      scratch[k] = filter == Filter::kBilinear ? bilinear(x) : bicubic(x);
      sum += scratch[k];
    }
    for (int k = 0; k < count[i]; ++k) {
      double weight = sum != 0 ? scratch[k] * (1.0 / sum) : scratch[k];
      weight *= 1 << kPrecisionBits;
      weights[std::size_t(i) * taps + k] =
          static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
}

void Resizer::resize(const Image& in, const Box& box, int width, int height, Filter filter,
                     Image& out) {
  if (box.width == width && box.height == height) return crop(in, box, out);
  constexpr std::int32_t kHalf = 1 << (kPrecisionBits - 1);
  // A direction whose size stays is copied, as Pillow does; its filter would only lose a rounding.
  const bool across = box.width != width;
  const bool down = box.height != height;
  Image& rows = down ? between_ : out;
  rows.resize(width, box.height);
  if (across) horizontal_.prepare(box.width, width, filter);
  for (int y = 0; y < box.height; ++y) {
    const std::uint8_t* from = in.row(box.top + y) + 3 * box.left;
    std::uint8_t* to = rows.row(y);
    if (!across) {
      std::memcpy(to, from, std::size_t(3) * width);
      continue;
    }
    for (int x = 0; x < width; ++x, to += 3) {
      const std::int32_t* weight = horizontal_.weights.data() + std::size_t(x) * horizontal_.taps;
      const std::uint8_t* pixel = from + 3 * horizontal_.first[x];
      std::int32_t r = kHalf, g = kHalf, b = kHalf;
      for (int k = 0; k < horizontal_.count[x]; ++k, pixel += 3) {
        r += pixel[0] * weight[k];
        g += pixel[1] * weight[k];
        b += pixel[2] * weight[k];
      }
      to[0] = to_byte(r);
      to[1] = to_byte(g);
      to[2] = to_byte(b);
    }
  }
  if (!down) return;
  vertical_.prepare(box.height, height, filter);
  out.resize(width, height);
  sums_.resize(std::size_t(3) * width);
  for (int y = 0; y < height; ++y) {
    const std::int32_t* weight = vertical_.weights.data() + std::size_t(y) * vertical_.taps;
    std::fill(sums_.begin(), sums_.end(), kHalf);
    for (int k = 0; k < vertical_.count[y]; ++k) {
      const std::uint8_t* from = between_.row(vertical_.first[y] + k);
      for (int i = 0; i < 3 * width; ++i) sums_[i] += from[i] * weight[k];
    }
    std::uint8_t* to = out.row(y);
    for (int i = 0; i < 3 * width; ++i) to[i] = to_byte(sums_[i]);
  }
}

Size shorter_side_to(int side, int width, int height) {
  const auto longer = [&](int a, int b) {
    return static_cast<int>(static_cast<double>(side) * b / a);
  };
  return width <= height ? Size{side, longer(width, height)} : Size{longer(height, width), side};
}

Box centre_box(int size, int width, int height) {
  // Python's round(): halves go to the even neighbour.
  return {static_cast<int>(std::nearbyint((width - size) / 2.0)),
          static_cast<int>(std::nearbyint((height - size) / 2.0)), size, size};
}

}  // namespace cpl
