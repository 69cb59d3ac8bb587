#pragma once
// Line charts for figures: axes with round numbers, linear or logarithmic, bars for deviations.

#include <string>
#include <vector>

#include "cplearn/report/svg.h"

namespace cpl {

struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> deviation;  // of each y; empty: not known
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;  // values of 0 or less are left out
  std::vector<Series> series;
};

// Round numbers that cover low .. high. On a logarithmic axis powers of ten, and 2 and 5 times them
// where these are few.
std::vector<double> axis_ticks(double low, double high, bool logarithmic);

// What the legend takes of a chart's width.
double legend_width(const Chart& chart);

// Draws into the rectangle at (x, y); the legend takes a part of it on the right.
void draw_chart(Svg& svg, double x, double y, double width, double height, const Chart& chart);

// Colours that can be told apart, again from the first after the last.
std::string series_colour(std::size_t index);

// "chart,series,x,y,deviation": the numbers behind the picture.
std::string charts_csv(const std::vector<Chart>& charts);

}  // namespace cpl
