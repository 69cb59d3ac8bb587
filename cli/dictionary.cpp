// cplearn dictionary: coherence of a dictionary, its file, and the paper's picture of W'W.

#include <cmath>

#include "cli/command.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/hdc/dictionary_file.h"
#include "cplearn/nn/head_enums.h"
#include "cplearn/report/svg.h"

namespace cpl::cli {
namespace {

struct Options {
  std::int64_t width = 128;
  std::int64_t codes = 16384;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  std::int64_t pairs = 1000000;
  std::string out, figure;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("width", width, "dimensions of a code, d", AtLeast{1});
    v("codes", codes, "number of codes, c", AtLeast{1});
    v("dictionary", dictionary,
      "hadamard (blocks of orthogonal codes) or rademacher (i.i.d. signs)", kDictionaryNames);
    v("pairs", pairs, "pairs of codes to look at; all of them if there are no more", AtLeast{1});
    v("out", out, "save the dictionary to this file (.safetensors)");
    v("figure", figure,
      "draw W'W for f = 50, 100 and c = f, 2f, 5f (Figure 3 of the paper) as SVG");
  }
};

// One column of the paper's figure: W'W as a heat map over a histogram of its elements.
void draw_panel(Svg& svg, double x, const Dictionary& dictionary, const std::string& title) {
  const double size = 150, top = 34, base = 330;
  const std::vector<float> matrix = cosine_matrix(dictionary);
  svg.text(x + size / 2, 22, title, 13);
  svg.heat_map(x, top, size, size, matrix, dictionary.codes(), dictionary.codes(), -1, 1);
  // One bar for each value that a cosine can take.
  const auto width = static_cast<double>(dictionary.width());
  std::vector<double> bars(static_cast<std::size_t>(dictionary.width()) + 1, 0);
  for (const float cosine : matrix)
    bars[static_cast<std::size_t>(std::lround((cosine + 1) / 2 * width))] +=
        1.0 / static_cast<double>(matrix.size());
  const double highest = *std::max_element(bars.begin(), bars.end());
  const double step = size / (width + 1);
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

std::string draw_figure(DictionaryKind kind, std::uint64_t seed) {
  Svg svg(1060, 372);
  double x = 20;
  for (const std::int64_t width : {50, 100}) {
    for (const std::int64_t times : {1, 2, 5}) {
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

int run(const Options& options, const Common& common) {
  const Dictionary dictionary(options.dictionary, options.width, options.codes, common.seed);
  const Coherence c = coherence(dictionary, options.pairs, common.seed);
  const double expected = 1.0 / static_cast<double>(options.width);
  const auto bytes = static_cast<double>(dictionary.bits().size());
  TextTable table({"what", "found", "i.i.d. signs would give"});
  table.add({"mean cosine", readable(c.mean), "0"});
  table.add({"variance of cosines", readable(c.variance), readable(expected) + " = 1/width"});
  table.add(
      {"largest |cosine|", readable(c.maximum),
       "about " + readable(std::sqrt(
                      2 * expected *
                      std::log(2.0 * static_cast<double>(std::max<std::int64_t>(c.pairs, 1)))))});
  table.add({"pairs looked at", std::to_string(c.pairs), c.exhaustive ? "all" : "a sample"});
  table.add({"stored in", readable_bytes(bytes),
             readable_bytes(std::ceil(static_cast<double>(options.width) / 8) *
                            static_cast<double>(options.codes))});
  common.say() << name_of(kDictionaryNames, options.dictionary) << " dictionary, width "
               << options.width << ", " << options.codes << " codes, seed " << common.seed << "\n\n"
               << table.str();
  Json result = {{"dictionary", name_of(kDictionaryNames, options.dictionary)},
                 {"width", options.width},
                 {"codes", options.codes},
                 {"block", dictionary.block()},
                 {"pairs", c.pairs},
                 {"exhaustive", c.exhaustive},
                 {"mean", c.mean},
                 {"variance", c.variance},
                 {"maximum", c.maximum},
                 {"histogram", c.histogram},
                 {"bytes", dictionary.bits().size()}};
  if (!options.out.empty()) {
    save_dictionary(options.out, dictionary);
    common.say() << "\nsaved to " << options.out << "\n";
    result["file"] = options.out;
  }
  if (!options.figure.empty()) {
    write_file(options.figure, draw_figure(options.dictionary, common.seed));
    common.say() << "\nfigure in " << options.figure << "\n";
    result["figure"] = options.figure;
  }
  common.result(result);
  return kSuccess;
}

}  // namespace

Run declare_dictionary(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->visit(AddOptions(app));
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace cpl::cli
