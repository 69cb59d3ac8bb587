// cplearn dictionary: coherence of a dictionary, its file, and the paper's picture of W'W.

#include <cmath>

#include "cli/engine/commands.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/hdc/dictionary_file.h"
#include "cplearn/nn/head_enums.h"
#include "cplearn/study/dictionary_figure.h"

namespace cpl::cli {

int run_dictionary(const DictionaryArguments& options, const Common& common) {
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

}  // namespace cpl::cli
