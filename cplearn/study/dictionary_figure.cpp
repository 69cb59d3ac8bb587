#include "cplearn/study/dictionary_figure.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/base/table.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/nn/head_enums.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

// Which part of the elements has each value that a cosine can take: -1, -1 + 2/f, ..., 1.
std::vector<double> distribution(const Dictionary& dictionary, const std::vector<float>& matrix) {
  const auto width = static_cast<double>(dictionary.width());
  std::vector<double> parts(static_cast<std::size_t>(dictionary.width()) + 1, 0);
  for (const float cosine : matrix)
    parts[static_cast<std::size_t>(std::lround((cosine + 1) / 2 * width))] +=
        1.0 / static_cast<double>(matrix.size());
  return parts;
}

constexpr std::int64_t kWidths[] = {50, 100};
constexpr std::int64_t kTimes[] = {1, 2, 5};  // codes per dimension

// One column of the paper's figure: W'W as a heat map over a histogram of its elements.
void draw_panel(Svg& svg, double x, const Dictionary& dictionary, const std::string& title) {
  const double size = 150, top = 34, base = 330;
  const std::vector<float> matrix = cosine_matrix(dictionary);
  svg.text(x + size / 2, 22, title, 13);
  svg.heat_map(x, top, size, size, matrix, dictionary.codes(), dictionary.codes(), -1, 1);
  const std::vector<double> bars = distribution(dictionary, matrix);
  const double highest = *std::max_element(bars.begin(), bars.end());
  const double step = size / static_cast<double>(bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double height = 100 * bars[i] / highest;
    if (height > 0)
      svg.rect(x + static_cast<double>(i) * step, base - height, step * 0.9, height, "#2166ac");
  }
  svg.line(x, base, x + size, base, "#222");
  for (const int tick : {-1, 0, 1})
    svg.text(x + size / 2 * (1 + tick), base + 14, std::to_string(tick));
  svg.text(x + size, base - 104, str("peak ", readable(highest)), 10, "end");
}

}  // namespace

std::string draw_dictionary_figure(DictionaryKind kind, std::uint64_t seed) {
  Svg svg(1060, 372);
  double x = 20;
  for (const std::int64_t width : kWidths) {
    for (const std::int64_t times : kTimes) {
      const Dictionary dictionary(kind, width, times * width, seed);
      draw_panel(svg, x, dictionary,
                 str("f = ", width, ", c = ", times == 1 ? "" : std::to_string(times), "f"));
      x += 174;
    }
  }
  svg.text(530, 364,
           str("W'W / f (", name_of(kDictionaryNames, kind),
               "): top, its elements from -1 (blue) over 0 (white) to 1 (red); bottom, their "
               "distribution"),
           12);
  return svg.str();
}

std::string dictionary_figure_csv(DictionaryKind kind, std::uint64_t seed) {
  std::string text = "f,c,cosine,part\n";
  for (const std::int64_t width : kWidths) {
    for (const std::int64_t times : kTimes) {
      const Dictionary dictionary(kind, width, times * width, seed);
      const std::vector<double> parts = distribution(dictionary, cosine_matrix(dictionary));
      for (std::size_t i = 0; i < parts.size(); ++i)
        text +=
            str(width, ",", times * width, ",",
                2.0 * static_cast<double>(i) / static_cast<double>(width) - 1, ",", parts[i], "\n");
    }
  }
  return text;
}

}  // namespace cpl
