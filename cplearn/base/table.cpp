#include "cplearn/base/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cplearn/base/text.h"

namespace cpl {
namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

std::string TextTable::str() const {
  auto rows = rows_;
  for (auto& row : rows)
    for (std::string& cell : row) {
      cell = printable(cell);
      for (char& c : cell)
        if (c == '\n' || c == '\t') c = ' ';
    }
  std::vector<std::size_t> widths(rows.front().size(), 3);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], letter_count(row[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "|";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = i < rows[r].size() ? rows[r][i] : "";
      text += " " + cell + std::string(widths[i] - letter_count(cell), ' ') + " |";
    }
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (const std::size_t width : widths) text += std::string(width + 2, '-') + "|";
    text += "\n";
  }
  return text;
}

std::string readable(double value) { return format("%.4g", value); }

std::string readable_seconds(double seconds) {
  if (seconds < 1) return format("%.3g ms", seconds * 1e3);
  if (seconds < 60) return format("%.3g s", seconds);
  const double minutes = std::floor(seconds / 60);
  return format("%.0f min ", minutes) + format("%02.0f s", std::floor(seconds - 60 * minutes));
}

std::string readable_bytes(double bytes) {
  const char* units[] = {"%.0f B", "%.3g kB", "%.3g MB", "%.3g GB", "%.3g TB"};
  std::size_t unit = 0;
  while (unit < 4 && std::abs(bytes) >= 999.5) {
    bytes /= 1000;
    ++unit;
  }
  return format(units[unit], bytes);
}

}  // namespace cpl
