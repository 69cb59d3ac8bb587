#include "cplearn/data/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cplearn/base/random.h"
#include "cplearn/data/normalise.h"

namespace cpl {
namespace {

constexpr float kPi = 3.14159265f;

struct Point {
  float x, y;
};

// Coordinates along axes turned by an angle.
struct Turn {
  float cosine, sine;
  explicit Turn(float angle) : cosine(std::cos(angle)), sine(std::sin(angle)) {}
  Point apply(Point p) const { return {p.x * cosine + p.y * sine, p.y * cosine - p.x * sine}; }
};

float length(Point p) { return std::sqrt(p.x * p.x + p.y * p.y); }

// Convex polygon with its corners on the unit circle.
float polygon(Point p, int corners) {
  const float sector = 2 * kPi / static_cast<float>(corners);
  const float angle = std::atan2(p.x, p.y);
  const float folded = angle - sector * std::floor(angle / sector + 0.5f);
  return length(p) * std::cos(folded) - std::cos(sector / 2);
}

float box(Point p, float half_width, float half_height) {
  return std::max(std::abs(p.x) - half_width, std::abs(p.y) - half_height);
}

float star(Point p) {
  const float sector = 2 * kPi / 5;
  const float angle = std::atan2(p.x, p.y);
  const float folded = std::abs(angle - sector * std::floor(angle / sector + 0.5f));
  const float radius = length(p);
  // The edge from the tip (0, 1) to the notch at radius 0.42, half a sector away.
  const Point q{radius * std::sin(folded), radius * std::cos(folded)};
  const Point notch{0.42f * std::sin(sector / 2), 0.42f * std::cos(sector / 2)};
  const float nx = 1 - notch.y, ny = notch.x;
  return (q.x * nx + (q.y - 1) * ny) / std::sqrt(nx * nx + ny * ny);
}

float heart(Point p) {
  // Two discs on the shoulders of a square that stands on its corner.
  const float x = std::abs(p.x), y = p.y + 0.15f;
  const float lobe = length({x - 0.42f, y + 0.28f}) - 0.52f;
  const float body = std::max({(x * 0.78f + (y - 0.98f) * 0.62f), -y - 0.30f, x - 0.90f});
  return std::min(lobe, body);
}

float arrow(Point p) {
  const float shaft = box({p.x, p.y - 0.45f}, 0.24f, 0.55f);
  const float head = std::max((std::abs(p.x) * 0.77f - (p.y + 1.0f) * 0.64f), p.y - 0.05f);
  return std::min(shaft, head);
}

// Negative inside, about the distance to the edge near it. Unit: the drawing's radius.
float outline(int shape, Point p) {
  switch (shape) {
    case 0:
      return length(p) - 1;
    case 1:
      return std::abs(length(p) - 0.74f) - 0.26f;
    case 2:
      return polygon(p, 3);
    case 3:
      return box(p, 0.75f, 0.75f);
    case 4:
      return star(p);
    case 5:
      return std::min(box(p, 1.0f, 0.3f), box(p, 0.3f, 1.0f));
    case 6:
      return heart(p);
    case 7:
      return std::max(length(p) - 1, 0.82f - length({p.x - 0.55f, p.y}));
    case 8:
      return arrow(p);
    default:  // hourglass
      return std::max(std::abs(p.y) - 0.9f,
                      (std::abs(p.x) - 0.85f * std::abs(p.y) - 0.08f) * 0.76f);
  }
}

const std::vector<std::string> kNames = {"disc",  "ring",  "triangle", "square", "star",
                                         "cross", "heart", "moon",     "arrow",  "hourglass"};

// Radius, in units of a disc's of the same area.
std::array<float, ShapesSource::kClasses> equal_area_radii() {
  constexpr int kGrid = 200;
  std::array<float, ShapesSource::kClasses> radii;
  for (int shape = 0; shape < ShapesSource::kClasses; ++shape) {
    int inside = 0;
    for (int i = 0; i < kGrid; ++i) {
      for (int j = 0; j < kGrid; ++j) {
        const auto at = [](int k) { return (static_cast<float>(k) + 0.5f) * 2.6f / kGrid - 1.3f; };
        inside += outline(shape, {at(j), at(i)}) < 0;
      }
    }
    radii[shape] = std::sqrt(kPi / (static_cast<float>(inside) * (2.6f / kGrid) * (2.6f / kGrid)));
  }
  return radii;
}

using Colour = std::array<float, 3>;  // 0 to 1

Colour hsv(float hue, float saturation, float value) {
  Colour colour;
  for (int c = 0; c < 3; ++c) {
    const float k = std::fmod(5.0f - 2 * static_cast<float>(c) + 6 * hue, 6.0f);
    colour[c] = value - value * saturation * std::clamp(std::min(k, 4 - k), 0.0f, 1.0f);
  }
  return colour;
}

Colour mix(const Colour& a, const Colour& b, float share) {
  Colour colour;
  for (int c = 0; c < 3; ++c) colour[c] = a[c] + (b[c] - a[c]) * share;
  return colour;
}

float luma(const Colour& c) { return 0.299f * c[0] + 0.587f * c[1] + 0.114f * c[2]; }

struct Pair {
  Colour first, second;
  float darker() const { return std::min(luma(first), luma(second)); }
  float lighter() const { return std::max(luma(first), luma(second)); }
};

// Two related colours, drawn again until both lie between the two brightnesses. `spread`: how far
// apart they may be.
Pair draw_colours(Random& random, float spread, float darkest, float lightest) {
  while (true) {
    const float hue = random.uniform();
    const float saturation = random.uniform(0.0f, 0.5f);
    const float value = random.uniform();
    const Pair pair{hsv(hue, saturation, value),
                    hsv(hue + 1 + random.uniform(-0.08f, 0.08f) * spread,
                        std::clamp(saturation + random.uniform(-0.3f, 0.3f) * spread, 0.0f, 1.0f),
                        std::clamp(value + random.uniform(-0.4f, 0.4f) * spread, 0.0f, 1.0f))};
    if (pair.darker() >= darkest && pair.lighter() <= lightest) return pair;
  }
}

// A pattern between two colours.
class Texture {
 public:
  Texture(Random& random, const Pair& colours)
      : colours_(colours),
        kind_(random.chance(0.4f) ? 0 : static_cast<int>(random.below(6))),
        turn_(random.uniform(0, 2 * kPi)),
        period_(random.uniform(2.5f, 8.0f)),
        phase_(random.uniform(0, 64)) {
    for (float& v : lattice_) v = random.uniform();
  }

  Colour at(float x, float y) const {
    const Point p = turn_.apply({x, y});
    const float u = p.x, v = p.y;
    const auto wave = [&](float t) {
      return 0.5f +
             0.5f * std::clamp(2.5f * std::sin(2 * kPi * (t + phase_) / period_), -1.0f, 1.0f);
    };
    switch (kind_) {
      case 0:  // flat
        return colours_.first;
      case 1:  // gradient
        return mix(colours_.first, colours_.second, std::clamp(0.5f + u / 32, 0.0f, 1.0f));
      case 2:  // stripes
        return mix(colours_.first, colours_.second, wave(u));
      case 3: {  // checks
        const float a = wave(u), b = wave(v);
        return mix(colours_.first, colours_.second, a + b - 2 * a * b);
      }
      case 4:  // dots
        return mix(colours_.first, colours_.second,
                   std::clamp(2 * wave(u) * wave(v) - 0.4f, 0.0f, 1.0f));
      default:  // clouds
        return mix(colours_.first, colours_.second, clouds(u + 64, v + 64));
    }
  }

 private:
  // Smoothly interpolated random values on an 8 x 8 torus.
  float clouds(float u, float v) const {
    const float scale = 1 / (period_ + 1);
    const float x = u * scale, y = v * scale;
    const int ix = static_cast<int>(x), iy = static_cast<int>(y);
    const auto smooth = [](float t) { return t * t * (3 - 2 * t); };
    const float fx = smooth(x - static_cast<float>(ix)), fy = smooth(y - static_cast<float>(iy));
    const auto value = [&](int i, int j) { return lattice_[(i & 7) * 8 + (j & 7)]; };
    const float top = value(ix, iy) * (1 - fx) + value(ix + 1, iy) * fx;
    const float bottom = value(ix, iy + 1) * (1 - fx) + value(ix + 1, iy + 1) * fx;
    return top * (1 - fy) + bottom * fy;
  }

  Pair colours_;
  int kind_;
  Turn turn_;
  float period_, phase_;
  std::array<float, 64> lattice_;
};

float coverage(float signed_distance) { return std::clamp(0.5f - signed_distance, 0.0f, 1.0f); }

// A short thick line behind the shape.
struct Stroke {
  Point from, to;
  float radius;
  Colour colour;

  explicit Stroke(Random& random)
      : from{random.uniform(-14, 14), random.uniform(-14, 14)},
        to{from.x + random.uniform(-9, 9), from.y + random.uniform(-9, 9)},
        radius(random.uniform(0.6f, 1.8f)),
        colour(hsv(random.uniform(), random.uniform(0.2f, 0.9f), random.uniform(0.25f, 1.0f))) {}

  float at(float x, float y) const {
    const float dx = to.x - from.x, dy = to.y - from.y;
    const float along = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy + 1e-6f);
    const float t = std::clamp(along, 0.0f, 1.0f);
    return coverage(length({x - from.x - t * dx, y - from.y - t * dy}) - radius);
  }
};

}  // namespace

ShapesSource::ShapesSource(std::size_t count, const std::string& split)
    : Source(kNames, "shapes"),
      count_(count             ? count
             : split == "test" ? 1000
                               : 5000),
      test_(split == "test") {}

std::string ShapesSource::name(std::size_t index) const {
  char text[48];
  std::snprintf(text, sizeof text, "shapes/%s/%05zu", test_ ? "test" : "train", index);
  return text;
}

void ShapesSource::read(std::size_t index, Image& image) const {
  static const std::array<float, kClasses> radii = equal_area_radii();
  const std::vector<float>& normal = normal_table();
  const int shape = label(index);
  Random random(0, Stream::kShapes, index, test_ ? 1 : 0);

  // A ground of middling brightness, and paint that is lighter or darker than it by a visible step:
  // as often one as the other, so that no pixel is bright more often in one class than in another.
  const Pair ground_colours = draw_colours(random, 0.4f, 0.34f, 0.62f);
  const Texture ground(random, ground_colours);
  const bool lighter = random.chance(0.5f);
  const Texture paint(random,
                      lighter ? draw_colours(random, 0.3f, ground_colours.lighter() + 0.18f, 1)
                              : draw_colours(random, 0.3f, 0.05f, ground_colours.darker() - 0.18f));
  const int strokes = static_cast<int>(random.below(2));
  std::vector<Stroke> clutter;
  clutter.reserve(std::size_t(strokes));
  for (int i = 0; i < strokes; ++i) clutter.emplace_back(random);

  const float area_radius = random.uniform(6.5f, 9.5f);  // pixels, of the disc of the same area
  const float radius = area_radius * radii[shape];
  const Turn turn(random.uniform(-0.35f, 0.35f));  // 20 degrees either way
  const float stretch = std::exp(random.uniform(-0.16f, 0.16f));
  const float reach = 15 - area_radius;
  const Point centre{random.uniform(-reach, reach), random.uniform(-reach, reach)};
  const float rim = random.chance(0.1f) ? random.uniform(0.7f, 1.4f) : 0.0f;
  const Colour rim_colour = hsv(random.uniform(), 0.5f, random.chance(0.5f) ? 0.1f : 0.95f);
  const float shadow = random.chance(0.3f) ? random.uniform(0.2f, 0.4f) : 0.0f;
  const Turn light_turn(random.uniform(0, 2 * kPi));
  const float light = random.uniform(0, 0.25f);
  const float grain = random.uniform(0.01f, 0.045f);

  const auto signed_pixels = [&](float x, float y) {
    const Point p = turn.apply({x - centre.x, y - centre.y});
    return outline(shape, {p.x * stretch / radius, p.y / stretch / radius}) * radius;
  };

  image.resize(kSide, kSide);
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const float x = static_cast<float>(column) - 15.5f, y = static_cast<float>(row) - 15.5f;
      Colour colour = ground.at(x, y);
      for (const Stroke& stroke : clutter) colour = mix(colour, stroke.colour, stroke.at(x, y));
      if (shadow > 0) {
        const float under = std::clamp(0.5f - signed_pixels(x - 1.6f, y - 1.6f) / 3, 0.0f, 1.0f);
        colour = mix(colour, Colour{0, 0, 0}, shadow * under);
      }
      const float edge = signed_pixels(x, y);
      if (rim > 0) colour = mix(colour, rim_colour, coverage(edge - rim));
      colour = mix(colour, paint.at(x - centre.x, y - centre.y), coverage(edge));
      const float lit = 1 + light * light_turn.apply({x, y}).x / 16;
      std::uint8_t* pixel = image.row(row) + 3 * column;
      for (int c = 0; c < 3; ++c) {
        const float value = colour[c] * lit + grain * normal[random() >> 16];
        pixel[c] = static_cast<std::uint8_t>(std::clamp(value * 255 + 0.5f, 0.0f, 255.0f));
      }
    }
  }
}

}  // namespace cpl
