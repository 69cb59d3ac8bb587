#include "cplearn/train/remedy.h"

#include <algorithm>
#include <set>

#include "cplearn/base/config.h"
#include "cplearn/train/run_config.h"

namespace cpl {
namespace {

constexpr std::int64_t kSmallBatch = 32;
constexpr double kHeavyDecay = 0.5;  // transformers are trained with up to 0.4

// The usual rate says nothing of optimisers of another kind.
bool rates_compare(const std::string& a, const std::string& b) {
  const auto is_adam = [](const std::string& name) { return name == "adam" || name == "adamw"; };
  return a == b || (is_adam(a) && is_adam(b));
}

// Whether an option weighs or shapes the loss of this method.
bool is_of_the_loss(const std::string& option, const std::string& method) {
  static const std::set<std::string> kCplearn = {
      "activation", "beta", "deviation", "prior", "scale", "symmetric", "train-dictionary"};
  static const std::set<std::string> kGedi = {"beta", "prior", "symmetric"};
  if (is_cplearn(method)) return kCplearn.count(option) > 0;
  std::string own = method.substr(0, method.find("_nogen"));  // "gedi" for both
  std::replace(own.begin(), own.end(), '_', '-');
  return option.rfind(own + "-", 0) == 0 || (own == "gedi" && kGedi.count(option) > 0);
}

}  // namespace

std::vector<Remedy> remedies(const TrainOptions& options) {
  const bool paper = options.method == CplearnPaperOptions::kRow.name;
  const TrainOptions usual = default_options(paper ? CplearnOptions::kRow.name : options.method);
  std::vector<Remedy> result;
  std::set<std::string> own;  // what people changed; the rest follows the method
  for (const Remedy& change : changes(options, default_options(options.method)))
    own.insert(change.option);
  if (paper) result.push_back({"method", options.method, usual.method});
  for (const Remedy& change : changes(options, usual))
    if (own.count(change.option) > 0 && is_of_the_loss(change.option, options.method))
      result.push_back(change);
  if (options.lr > usual.lr && rates_compare(options.optimizer.name, usual.optimizer.name))
    result.push_back({"lr", number_text(options.lr), number_text(usual.lr)});
  if (options.optimizer.weight_decay > kHeavyDecay)
    result.push_back({"weight-decay", number_text(options.optimizer.weight_decay),
                      number_text(usual.optimizer.weight_decay)});
  if (options.batch < kSmallBatch)
    result.push_back({"batch", std::to_string(options.batch), std::to_string(usual.batch)});
  if (result.empty())
    result.push_back({"lr", number_text(options.lr), number_text(options.lr / 10)});
  return result;
}

std::string safe_rate(const TrainOptions& options) {
  return number_text(std::min(options.lr / 10, default_options(options.method).lr));
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

std::vector<Remedy> changes(const TrainOptions& before, const TrainOptions& after) {
  const std::vector<OptionText> old = list_options(before), now = list_options(after);
  std::vector<Remedy> result;
  for (std::size_t i = 0; i < old.size(); ++i)
    if (old[i].value != now[i].value) result.push_back({old[i].name, old[i].value, now[i].value});
  return result;
}

}  // namespace cpl
