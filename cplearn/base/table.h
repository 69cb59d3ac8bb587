#pragma once
// Text for people: aligned tables (valid Markdown), numbers that are easy to read.

#include <string>
#include <vector>

namespace cpl {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// 4 significant digits: "0.001234", "12.35", "1.235e-09".
std::string readable(double value);

// "3.2 ms", "1.5 s", "2 min 05 s".
std::string readable_seconds(double seconds);

// "12 kB", "3.4 MB"; powers of 1000.
std::string readable_bytes(double bytes);

}  // namespace cpl
