#include "cplearn/report/svg.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

// Blue (-1) over white (0) to red (+1).
Colour diverging(float t) {
  const float strength = std::min(std::abs(t), 1.0f);
  const std::array<float, 3> blue = {33, 102, 172}, red = {178, 24, 43};
  const std::array<float, 3>& end = t < 0 ? blue : red;
  Colour colour{};
  for (std::size_t i = 0; i < 3; ++i)
    colour[i] = static_cast<std::uint8_t>(std::lround(255 + strength * (end[i] - 255)));
  return colour;
}

// pixels: height x width.
std::vector<std::uint8_t> encode_png(const std::vector<Colour>& pixels, std::int64_t width,
                                     std::int64_t height) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::uint8_t> png(size);
  CPL_CHECK(png_image_write_to_memory(&image, png.data(), &size, 0, pixels.data(), 0, nullptr) != 0,
            "cannot make a picture of ", width, " x ", height, ": ", image.message);
  png.resize(size);
  return png;
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::rect(double x, double y, double width, double height, const std::string& fill) {
  body_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height
        << "\" fill=\"" << escaped(fill) << "\"/>\n";
}

void Svg::line(double x0, double y0, double x1, double y1, const std::string& stroke) {
  body_ << "<line x1=\"" << x0 << "\" y1=\"" << y0 << "\" x2=\"" << x1 << "\" y2=\"" << y1
        << "\" stroke=\"" << escaped(stroke) << "\" stroke-width=\"1\"/>\n";
}

void Svg::circle(double x, double y, double radius, const std::string& fill) {
  body_ << "<circle cx=\"" << x << "\" cy=\"" << y << "\" r=\"" << radius << "\" fill=\""
        << escaped(fill) << "\"/>\n";
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points,
                   const std::string& stroke) {
  body_ << "<polyline fill=\"none\" stroke-width=\"1.5\" stroke-linejoin=\"round\" stroke=\""
        << escaped(stroke) << "\" points=\"";
  for (const auto& [x, y] : points) body_ << x << "," << y << " ";
  body_ << "\"/>\n";
}

void Svg::text(double x, double y, const std::string& text, double size,
               const std::string& anchor) {
  body_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" text-anchor=\""
        << escaped(anchor) << "\" fill=\"#222\">" << escaped(text) << "</text>\n";
}

void Svg::heat_map(double x, double y, double width, double height,
                   const std::vector<float>& values, std::int64_t rows, std::int64_t columns,
                   float low, float high) {
  CPL_CHECK(static_cast<std::int64_t>(values.size()) == rows * columns, "heat map: ", values.size(),
            " values for ", rows, " x ", columns);
  // Enlarged here, because not every viewer leaves the edges between values sharp.
  constexpr std::int64_t kEnough = 400;
  const std::int64_t factor = std::max<std::int64_t>(1, kEnough / std::max(rows, columns));
  std::vector<Colour> pixels;
  pixels.reserve(static_cast<std::size_t>(rows * columns * factor * factor));
  for (std::int64_t r = 0; r < rows * factor; ++r) {
    for (std::int64_t c = 0; c < columns * factor; ++c) {
      const float value = values[static_cast<std::size_t>(r / factor * columns + c / factor)];
      pixels.push_back(diverging(value < 0 ? -value / low : value / high));
    }
  }
  const std::vector<std::uint8_t> png = encode_png(pixels, columns * factor, rows * factor);
  body_ << "<image x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
        << height
        << "\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
           "href=\"data:image/png;base64,"
        << base64(png) << "\"/>\n";
}

std::string Svg::str() const {
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width_ << " " << height_
      << "\" width=\"" << width_ << "\" height=\"" << height_
      << "\" font-family=\"system-ui, sans-serif\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << body_.str() << "</svg>\n";
  return out.str();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += k <= count ? kDigits[(group >> (18 - 6 * k)) & 63] : '=';
  }
  return out;
}

}  // namespace cpl
