// cplearn gauntlet: trains under hostile settings, counts collapses and failures, makes a page.

#include <filesystem>

#include "cli/engine/cells.h"
#include "cli/engine/commands.h"
#include "cli/engine/signals.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/report/verdict_page.h"
#include "cplearn/study/gauntlet.h"

namespace cpl::cli {
namespace {

Condition chosen_methods(const std::string& text) {
  Condition condition = {"method", split(text, ',')};
  for (const std::string& name : condition.values) find_method(name);  // a typo is named
  return condition;
}

std::string counts_text(const std::vector<FateCounts>& counts) {
  TextTable table({"method", "runs", "healthy", "doubtful", "recovered", "collapsed", "failed"});
  for (const FateCounts& row : counts) {
    std::vector<std::string> line = {row.method, std::to_string(row.runs())};
    for (int fate = 0; fate < static_cast<int>(Fate::kMissing); ++fate)
      line.push_back(std::to_string(row.of(Fate(fate))));
    table.add(line);
  }
  return table.str();
}

Json as_json(const std::vector<GauntletRun>& runs) {
  Json list = Json::array();
  for (const GauntletRun& run : runs)
    list.push_back({{"method", run.method},
                    {"setting", run.setting},
                    {"seed", run.seed},
                    {"fate", fate_name(run.fate)},
                    {"words", run.words}});
  return list;
}

}  // namespace

int run_gauntlet(const GauntletArguments& o, const Common& common) {
  const Experiment experiment = builtin_experiment("gauntlet");
  PlanChanges changes;
  changes.seeds = o.seeds;
  changes.first_seed = common.seed;
  if (!o.only.empty()) changes.only = parse_conditions(o.only, "--only");
  changes.only.push_back(chosen_methods(o.method));
  const Plan plan = make_plan(experiment, o.budget, changes);
  const std::string folder = o.out.empty() ? "gauntlet/" + o.budget : o.out;
  common.say() << printable(str(experiment.title, "\nBudget ", o.budget, ": ", plan.note, "\n"));
  DataFolder data(o.data_dir);
  Json skipped = Json::array();
  const std::vector<Cell> cells = cells_with_data(plan, data, common, skipped);
  CPL_CHECK(!cells.empty(), "there is nothing to run: --data-dir says where data sets are");
  catch_signals();
  const CellOutcome outcome = run_cells(folder, cells, data, common);

  const std::vector<GauntletRun> runs = gauntlet_runs(read_results(folder, plan), outcome.failed);
  const std::vector<FateCounts> counts = count_fates(runs);
  const std::string page = folder + "/gauntlet.html", list = folder + "/gauntlet.json";
  write_file(page, verdict_page_html(gauntlet_page(plan.note, runs)));
  write_file(list, as_json(runs).dump(1) + "\n");

  common.say() << "\n" << counts_text(counts);
  Json methods = Json::object(), total = Json::object();
  for (const FateCounts& row : counts) {
    Json& entry = methods[row.method];
    entry["runs"] = row.runs();
    for (int fate = 0; fate < kFates; ++fate) entry[fate_name(Fate(fate))] = row.of(Fate(fate));
    for (const auto& [name, value] : entry.items())
      total[name] = total.value(name, 0) + value.get<int>();
  }
  for (const GauntletRun& run : runs)
    if (run.fate == Fate::kCollapsed || run.fate == Fate::kFailed)
      common.say() << run.method << " " << run.setting << ", seed " << run.seed << ": "
                   << fate_name(run.fate) << ", " << printable(run.words) << "\n";
  common.say() << "A page with every run: " << page << "\n";
  if (stop_requested()) std::cerr << "Stopped. The same command goes on where this one was.\n";
  total["methods"] = methods;
  total["page"] = page;
  total["list"] = list;
  common.result(total);
  return stop_requested() ? kFailure : kSuccess;
}

}  // namespace cpl::cli
