// cplearn theory: the paper's statements, expected and found; and where the loss alone leads.

#include "cplearn/eval/theory.h"

#include <algorithm>

#include "cli/engine/commands.h"
#include "cplearn/base/table.h"
#include "cplearn/eval/free_points.h"

namespace cpl::cli {
namespace {

// Dictionaries from f to 128 f codes, each with few points and with many.
int optimise(const TheoryArguments& arguments, const Common& common) {
  FreePointsOptions options = arguments.points;
  options.width = arguments.checks.width;
  options.beta = arguments.checks.beta;
  options.seed = common.seed;
  std::vector<FreePointsOptions> cells;
  for (const std::int64_t multiple : {1, 4, 16, 128}) {
    options.codes = multiple * options.width;
    for (const std::int64_t points :
         {std::max<std::int64_t>(8, options.codes / 4), 2 * options.codes}) {
      options.points = points;
      for (const auto& [name, start] : kStartNames) {
        if (start == Start::kShort && options.activation == Activation::kL2) continue;
        options.start = start;
        cells.push_back(options);
      }
    }
  }
  TextTable table({"codes", "points", "start", "loss", "if uniform", "codes used", "rank",
                   "confidence", "comes to rest"});
  Json list = Json::array();
  {
    Progress progress(static_cast<std::int64_t>(cells.size()) * options.steps, "steps",
                      common.progress());
    std::int64_t done = 0;
    for (const FreePointsOptions& cell : cells) {
      const FreePointsState state =
          optimise_points(cell, [&](std::int64_t step) { progress.update(done + step); });
      done += options.steps;
      const std::string start = name_of(kStartNames, cell.start);
      table.add({std::to_string(cell.codes), std::to_string(cell.points), start,
                 readable(state.loss), readable(state.loss_if_uniform), readable(state.codes_used),
                 readable(state.rank), readable(state.confidence), regime(state, cell)});
      list.push_back({{"codes", cell.codes},
                      {"points", cell.points},
                      {"start", start},
                      {"loss", state.loss},
                      {"loss_if_uniform", state.loss_if_uniform},
                      {"codes_used", state.codes_used},
                      {"rank", state.rank},
                      {"deviation", state.deviation},
                      {"length", state.length},
                      {"confidence", state.confidence},
                      {"regime", regime(state, cell)}});
    }
  }
  common.say() << "f = " << options.width << ", beta = " << options.beta << ", "
               << name_of(kActivationNames, options.activation) << ", views correlate "
               << options.correlation << ", " << options.steps << " steps of descent\n\n"
               << table.str();
  common.result({{"free_points", list},
                 {"width", options.width},
                 {"beta", options.beta},
                 {"activation", name_of(kActivationNames, options.activation)},
                 {"scale", name_of(kLogitScaleNames, options.scale)},
                 {"deviation", options.deviation},
                 {"prior", name_of(kPriorFormNames, options.prior)},
                 {"dictionary", name_of(kDictionaryNames, options.dictionary)},
                 {"correlation", options.correlation},
                 {"steps", options.steps}});
  return kSuccess;
}

}  // namespace

int run_theory(const TheoryArguments& arguments, const Common& common) {
  if (arguments.optimise) return optimise(arguments, common);
  TheoryOptions options = arguments.checks;
  options.seed = common.seed;
  const std::vector<TheoryCheck> checks = check_theory(options);
  TextTable table({"statement", "checked", "expected", "found", ""});
  Json list = Json::array();
  int failed = 0;
  for (const TheoryCheck& check : checks) {
    table.add({check.statement, check.what,
               (check.at_least ? ">= " : "") + readable(check.expected), readable(check.found),
               check.holds() ? "holds" : "FAILS"});
    list.push_back({{"statement", check.statement},
                    {"what", check.what},
                    {"expected", check.expected},
                    {"found", check.found},
                    {"tolerance", check.tolerance},
                    {"holds", check.holds()}});
    failed += !check.holds();
  }
  common.say() << "f = c = " << options.width << ", n = " << options.batch
               << ", beta = " << options.beta << ", eps = 1e-8, in double precision\n\n"
               << table.str() << "\n"
               << checks.size() - static_cast<std::size_t>(failed) << " of " << checks.size()
               << " hold.\n";
  common.result({{"checks", list}, {"failed", failed}});
  return failed == 0 ? kSuccess : kFailure;
}

}  // namespace cpl::cli
