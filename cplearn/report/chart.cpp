#include "cplearn/report/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cplearn/base/csv.h"
#include "cplearn/base/error.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"

namespace cpl {
namespace {

// A value's place along an axis of `length`.
struct Axis {
  double low, high, length;
  bool logarithmic;

  double at(double value) const {
    const double t =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return t * length;
  }
};

bool shown(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0);
}

// The range of the values, a little wider, never empty.
Axis make_axis(const std::vector<double>& values, bool logarithmic, double length) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!shown(value, logarithmic)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = 1;
  if (logarithmic) {
    const double margin = std::pow(high / low, 0.04);
    low /= std::max(margin, 1.05);
    high *= std::max(margin, 1.05);
  } else {
    const double margin = std::max(0.04 * (high - low), 1e-9 + 0.01 * std::abs(high));
    low -= margin;
    high += margin;
  }
  return {low, high, length, logarithmic};
}

}  // namespace

std::vector<double> axis_ticks(double low, double high, bool logarithmic) {
  std::vector<double> ticks;
  if (logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
    const int step = std::max(1, (last - first) / 6);
    for (int e = first; e <= last; e += step) ticks.push_back(std::pow(10.0, e));
    if (ticks.size() >= 3) return ticks;
    ticks.clear();
    for (int e = first - 1; e <= last; ++e) {
      for (const int digit : {1, 2, 5}) {
        const double tick = digit * std::pow(10.0, e);
        if (tick >= low && tick <= high) ticks.push_back(tick);
      }
    }
    if (ticks.size() < 2) ticks = {low, high};
    return ticks;
  }
  const double rough = (high - low) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double part = rough / power;
  const double step = (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power;
  for (double i = std::ceil(low / step); i * step <= high * (1 + 1e-12); ++i)
    ticks.push_back(i == 0 ? 0 : i * step);
  return ticks;
}

std::string series_colour(std::size_t index) {
  // Okabe and Ito's palette, which colour-blind people can tell apart, and three more.
  static const char* const kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                         "#56b4e9", "#000000", "#7f7f7f", "#8c564b", "#bcbd22"};
  return kColours[index % (sizeof kColours / sizeof *kColours)];
}

double legend_width(const Chart& chart) {
  constexpr double kMark = 32, kLetter = 5.8;  // the line before a name; a letter of size 10
  std::size_t longest = 0;
  for (const Series& series : chart.series) longest = std::max(longest, letter_count(series.name));
  return kMark + kLetter * static_cast<double>(longest);
}

void draw_chart(Svg& svg, double x, double y, double width, double height, const Chart& chart) {
  const double left = 56, right = std::min(legend_width(chart), width / 2), bottom = 40;
  const double top = chart.y_label.empty() ? 26 : 40;  // two lines: the title, the name of y
  std::vector<double> xs, ys;
  for (const Series& series : chart.series) {
    xs.insert(xs.end(), series.x.begin(), series.x.end());
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const double deviation = series.deviation.empty() ? 0 : series.deviation[i];
      ys.push_back(series.y[i] - deviation);
      ys.push_back(series.y[i] + deviation);
    }
  }
  const Axis across = make_axis(xs, chart.log_x, width - left - right);
  const Axis up = make_axis(ys, chart.log_y, height - top - bottom);
  const double base = y + height - bottom, origin = x + left;
  svg.text(origin + across.length / 2, y + 16, chart.title, 13);
  for (const double tick : axis_ticks(across.low, across.high, chart.log_x)) {
    const double at = origin + across.at(tick);
    svg.line(at, base, at, base - up.length, "#eee");
    svg.text(at, base + 14, readable(tick), 10);
  }
  for (const double tick : axis_ticks(up.low, up.high, chart.log_y)) {
    const double at = base - up.at(tick);
    svg.line(origin, at, origin + across.length, at, "#eee");
    svg.text(origin - 5, at + 3, readable(tick), 10, "end");
  }
  svg.line(origin, base, origin + across.length, base, "#222");
  svg.line(origin, base, origin, base - up.length, "#222");
  svg.text(origin + across.length / 2, base + 31, chart.x_label, 11);
  svg.text(x + 4, y + 31, chart.y_label, 11, "start");

  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& series = chart.series[s];
    const std::string colour = series_colour(s);
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shown(series.x[i], chart.log_x) || !shown(series.y[i], chart.log_y)) continue;
      const double px = origin + across.at(series.x[i]);
      points.emplace_back(px, base - up.at(series.y[i]));
      const double deviation = series.deviation.empty() ? 0 : series.deviation[i];
      const double under = series.y[i] - deviation;
      if (deviation > 0 && shown(under, chart.log_y))
        svg.line(px, base - up.at(under), px, base - up.at(series.y[i] + deviation), colour);
    }
    svg.polyline(points, colour);
    if (points.size() <= 40)
      for (const auto& [px, py] : points) svg.circle(px, py, 2.5, colour);
    const double entry = y + top + 8 + 15 * static_cast<double>(s);
    const double mark = origin + across.length + 10;
    svg.line(mark, entry - 4, mark + 14, entry - 4, colour);
    svg.text(mark + 18, entry, series.name, 10, "start");
  }
}

std::string charts_csv(const std::vector<Chart>& charts) {
  std::string text = "chart,series,x,y,deviation\n";
  for (const Chart& chart : charts) {
    for (const Series& series : chart.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i)
        text +=
            str(csv_field(chart.title), ",", csv_field(series.name), ",", series.x[i], ",",
                series.y[i], ",", series.deviation.empty() ? "" : str(series.deviation[i]), "\n");
    }
  }
  return text;
}

}  // namespace cpl
