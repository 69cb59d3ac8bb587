#pragma once
// A plot of lines with axes as SVG, and its numbers as CSV.

#include <string>
#include <utility>
#include <vector>

namespace cpl {

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct LinePlot {
  std::string title, x_label;
  std::vector<PlotSeries> series;
  bool logarithmic = false;  // both axes; values that are not positive are left out
};

std::string plot_svg(const LinePlot& plot);
std::string plot_csv(const LinePlot& plot);  // x, then a column for each series

// Round numbers that cover low..high, about `count` of them.
std::vector<double> round_ticks(double low, double high, int count);

// The i-th colour of series and classes.
std::string plot_colour(std::size_t i);

// One field of a CSV file; what a spreadsheet would take for a formula gets an apostrophe.
std::string csv_field(const std::string& text);

}  // namespace cpl
