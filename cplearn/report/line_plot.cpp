#include "cplearn/report/line_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cplearn/base/config.h"
#include "cplearn/base/table.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kRight = 625, kTop = 40, kBottom = 345;

// From values to a side of the picture.
struct Axis {
  double low, high, begin, end;
  bool logarithmic;

  double operator()(double value) const {
    const double t =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin + t * (end - begin);
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (!logarithmic || high / low < 100) {
      result = round_ticks(low, high, 6);
    } else {
      const int decades = static_cast<int>(std::log10(high / low));
      const int every = std::max(1, decades / 6);
      for (double e = std::ceil(std::log10(low) - 1e-9); std::pow(10, e) <= high * (1 + 1e-9);
           e += every)
        result.push_back(std::pow(10, e));
    }
    result.erase(
        std::remove_if(result.begin(), result.end(), [&](double t) { return t < low || t > high; }),
        result.end());
    return result;
  }
};

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double lead = raw / power;
  const double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
  for (std::int64_t i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

std::string plot_colour(std::size_t i) {
  static const char* const kColours[] = {"#3f75b3", "#d9772f", "#4c9661", "#b0506f",
                                         "#8371bd", "#94793f", "#3f979f", "#bb5f9c"};
  return kColours[i % std::size(kColours)];
}

std::string plot_svg(const LinePlot& plot) {
  Svg svg(kWidth, kHeight);
  svg.text(kLeft, 22, plot.title, 14, "start");
  const auto usable = [&](const std::pair<double, double>& p) {
    return std::isfinite(p.first) && std::isfinite(p.second) &&
           (!plot.logarithmic || (p.first > 0 && p.second > 0));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double x0 = kInfinity, x1 = -kInfinity, y0 = kInfinity, y1 = -kInfinity;
  for (const PlotSeries& s : plot.series) {
    for (const auto& p : s.points) {
      if (!usable(p)) continue;
      x0 = std::min(x0, p.first), x1 = std::max(x1, p.first);
      y0 = std::min(y0, p.second), y1 = std::max(y1, p.second);
    }
  }
  if (!(x0 <= x1)) {
    svg.text(kWidth / 2, kHeight / 2, "no values");
    return svg.str();
  }
  const auto widen = [&](double& low, double& high) {
    if (low < high) return;
    const double by = low == 0 ? 1 : std::abs(low) / 2;
    low -= by, high += by;
  };
  widen(x0, x1);
  widen(y0, y1);
  const Axis x{x0, x1, kLeft, kRight, plot.logarithmic};
  const Axis y{y0, y1, kBottom, kTop, plot.logarithmic};
  for (const double tick : y.ticks()) {
    svg.line(kLeft, y(tick), kRight, y(tick), "#e8e6e1");
    svg.text(kLeft - 8, y(tick) + 4, readable(tick), 11, "end");
  }
  svg.line(kLeft, kBottom, kRight, kBottom, "#999");
  for (const double tick : x.ticks()) svg.text(x(tick), kBottom + 18, readable(tick));
  svg.text(kRight, kBottom + 36, plot.x_label, 11, "end");
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    std::vector<std::pair<double, double>> points;
    for (const auto& p : plot.series[i].points)
      if (usable(p)) points.emplace_back(x(p.first), y(p.second));
    svg.polyline(points, plot_colour(i));
    if (points.size() == 1) svg.circle(points[0].first, points[0].second, 3, plot_colour(i));
    if (plot.series.size() < 2) continue;
    const double row = kTop + 8 + 16 * static_cast<double>(i);
    svg.line(kRight - 14, row - 4, kRight, row - 4, plot_colour(i));
    svg.text(kRight - 20, row, plot.series[i].name, 11, "end");
  }
  return svg.str();
}

std::string plot_csv(const LinePlot& plot) {
  std::string text = csv_field(plot.x_label);
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    text += "," + csv_field(plot.series[i].name);
    for (const auto& [x, y] : plot.series[i].points) {
      std::vector<std::string>& row = rows[x];
      row.resize(plot.series.size());
      if (std::isfinite(y)) row[i] = number_text(y);
    }
  }
  text += "\n";
  for (const auto& [x, row] : rows) {
    text += number_text(x);
    for (const std::string& value : row) text += "," + value;
    text += "\n";
  }
  return text;
}

std::string csv_field(const std::string& text) {
  std::string field = text;
  if (!field.empty() && std::string("=+-@\t\r").find(field[0]) != std::string::npos)
    field = "'" + field;
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace cpl
