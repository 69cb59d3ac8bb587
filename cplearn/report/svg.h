#pragma once
// Pictures as SVG text: a few shapes, text, and heat maps embedded as PNG.

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cpl {

class Svg {
 public:
  Svg(double width, double height);

  void rect(double x, double y, double width, double height, const std::string& fill);
  void line(double x0, double y0, double x1, double y1, const std::string& stroke);
  void circle(double x, double y, double radius, const std::string& fill);
  void polyline(const std::vector<std::pair<double, double>>& points, const std::string& stroke);
  // anchor: "start", "middle" or "end". Special characters are escaped.
  void text(double x, double y, const std::string& text, double size = 11,
            const std::string& anchor = "middle");
  // A row-major matrix, `low` dark blue, 0 (the middle) white, `high` dark red; pixels stay sharp.
  void heat_map(double x, double y, double width, double height, const std::vector<float>& values,
                std::int64_t rows, std::int64_t columns, float low, float high);

  std::string str() const;

 private:
  double width_, height_;
  std::ostringstream body_;
};

// &, <, > and " as entities: text for SVG and HTML.
std::string escaped(const std::string& text);

// Standard base64, for data addresses.
std::string base64(const std::vector<std::uint8_t>& bytes);

}  // namespace cpl
