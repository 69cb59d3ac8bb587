// cplearn dictionary: coherence of a dictionary, its file, and the paper's picture of W'W.

#include <cmath>

#include "cli/command.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/hdc/dictionary_file.h"
#include "cplearn/nn/head_enums.h"
#include "cplearn/study/dictionary_figure.h"

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
    write_file(options.figure, draw_dictionary_figure(options.dictionary, common.seed));
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
