// cplearn reproduce and gauntlet: what they take, and the list of experiments.

#include <algorithm>

#include "cli/engine.h"
#include "cplearn/base/table.h"
#include "cplearn/study/experiment.h"

namespace cpl::cli {
namespace {

int list(const Common& common) {
  TextTable table({"experiment", "what", "runs: smoke", "cpu", "paper"});
  Json result = Json::array();
  for (const Experiment& experiment : builtin_experiments()) {
    std::vector<std::string> row = {experiment.name, experiment.title};
    Json runs;
    for (const std::string& budget : budgets()) {
      runs[budget] = make_plan(experiment, budget, {}).cells.size();
      row.push_back(runs[budget].dump());
    }
    table.add(row);
    result.push_back({{"name", experiment.name}, {"title", experiment.title}, {"runs", runs}});
  }
  common.say() << table.str();
  common.result({{"experiments", result}});
  return kSuccess;
}

void check_budget(const std::string& budget) {
  check_usage(std::count(budgets().begin(), budgets().end(), budget) > 0,
              str("there is no budget '", budget, "': choose smoke, cpu or paper"));
}

}  // namespace

Run declare_gauntlet(CLI::App& app) {
  auto arguments = std::make_shared<GauntletArguments>();
  arguments->visit(AddOptions(app));
  return [arguments](const Common& common) {
    check_budget(arguments->budget);
    return engine().gauntlet(*arguments, common);
  };
}

Run declare_reproduce(CLI::App& app) {
  auto arguments = std::make_shared<ReproduceArguments>();
  app.add_option("name", arguments->name, "an experiment, see --list");
  arguments->visit(AddOptions(app));
  return [arguments](const Common& common) {
    if (arguments->list) return list(common);
    check_usage(!arguments->name.empty() || !arguments->config.empty(),
                "which experiment? 'cplearn reproduce --list' lists them");
    check_budget(arguments->budget);
    return engine().reproduce(*arguments, common);
  };
}

}  // namespace cpl::cli
