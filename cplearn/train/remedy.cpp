#include "cplearn/train/remedy.h"

#include <algorithm>
#include <set>

#include "cplearn/base/config.h"
#include "cplearn/train/run_config.h"

namespace cpl {
namespace {

constexpr std::int64_t kSmallBatch = 32;

// What makes the network rather than its loss.
const std::set<std::string> kOfTheNetwork = {"codes",     "hidden",           "dictionary",
                                             "projector", "projector-layers", "projector-width"};

const std::string& value_of(const std::vector<OptionText>& list, const std::string& name) {
  return std::find_if(list.begin(), list.end(), [&](auto& o) { return o.name == name; })->value;
}

}  // namespace

std::vector<Remedy> remedies(const TrainOptions& options) {
  const bool paper = options.method == CplearnPaperOptions::kRow.name;
  const TrainOptions usual = default_options(paper ? CplearnOptions::kRow.name : options.method);
  std::vector<Remedy> result;
  if (paper) {
    result.push_back({"method", options.method, usual.method});
  } else {
    const std::vector<OptionText> defaults = list_options(usual.method_options);
    for (const OptionText& option : list_options(options.method_options)) {
      const std::string& better = value_of(defaults, option.name);
      if (kOfTheNetwork.count(option.name) == 0 && option.value != better)
        result.push_back({option.name, option.value, better});
    }
  }
  if (options.lr > usual.lr)
    result.push_back({"lr", number_text(options.lr), number_text(usual.lr)});
  if (options.batch < kSmallBatch)
    result.push_back({"batch", std::to_string(options.batch), std::to_string(usual.batch)});
  if (result.empty())
    result.push_back({"lr", number_text(options.lr), number_text(options.lr / 10)});
  return result;
}

std::string remedy_words(const std::vector<Remedy>& remedies) {
  std::string words;
  for (const Remedy& r : remedies)
    words += str(words.empty() ? "" : ", ", "--", r.option, " ", r.better, " (now ", r.now, ")");
  return words;
}

TrainOptions with_remedies(TrainOptions options, const std::vector<Remedy>& remedies) {
  bool changed = false;
  for (const Remedy& r : remedies) {
    if (r.option == "method" || r.option == "batch") continue;
    set_option(options, r.option, r.better);
    changed = true;
  }
  if (!changed) options.lr /= 10;
  return options;
}

}  // namespace cpl
