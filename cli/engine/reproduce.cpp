// cplearn reproduce: an experiment of the paper, cell by cell, and its table and figures.

#include <filesystem>

#include "cli/engine/cells.h"
#include "cli/engine/commands.h"
#include "cli/engine/signals.h"
#include "cplearn/base/file.h"
#include "cplearn/base/file_lock.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/study/cell.h"
#include "cplearn/study/figures.h"
#include "cplearn/study/results.h"

namespace cpl::cli {
namespace {

Experiment find_experiment(const ReproduceArguments& o) {
  if (o.config.empty()) return builtin_experiment(o.name);
  const std::string name = std::filesystem::path(o.config).stem();
  return parse_experiment(name, read_file(o.config), o.config);
}

PlanChanges changes(const ReproduceArguments& o, const Common& common) {
  PlanChanges c;
  if (!o.set.empty()) {
    for (const Condition& setting : parse_conditions(o.set, "--set"))
      c.settings[setting.key] = setting.values.front();
  }
  if (o.epochs > 0) c.settings["epochs"] = std::to_string(o.epochs);
  if (o.images > 0) c.settings["images"] = std::to_string(o.images);
  if (!o.only.empty()) c.only = parse_conditions(o.only, "--only");
  c.seeds = o.seeds;
  c.first_seed = common.seed;
  return c;
}

int dry_run(const std::string& folder, const std::vector<Cell>& cells, DataFolder& data,
            const Common& common) {
  TextTable table({"cell", "state", "images", "epochs", "steps", "s per step", "time"});
  std::map<std::string, double> known;  // seconds per step; seeds and data cost the same
  Json result = Json::array();
  double total = 0;
  Progress progress(static_cast<std::int64_t>(cells.size()), "cells", common.progress());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellConfig config = resolve_cell(cells[i], data.find(data_name(cells[i])));
    TrainOptions train = config.run.train;
    train.data = train.test = "";
    train.seed = 0;
    double& seconds = known[run_config_text({train, SessionOptions()})];
    if (seconds == 0) seconds = estimate_step_seconds(train);
    DatasetOptions look;
    look.cache_bytes = 0;
    look.seed = config.run.train.seed;
    const auto images =
        static_cast<std::int64_t>(open_dataset(config.run.train.data, look)->size());
    const std::int64_t all = images / train.batch * train.epochs;
    const std::int64_t steps = config.cell.steps > 0 ? std::min(config.cell.steps, all) : all;
    const bool done = !finished_cell(folder + "/" + cells[i].name).is_null();
    const double cost = seconds * static_cast<double>(steps);
    if (!done) total += cost;
    table.add({cells[i].name, done ? "finished" : "to do", std::to_string(images),
               std::to_string(train.epochs), std::to_string(steps), readable(seconds),
               readable_seconds(cost)});
    result.push_back({{"cell", cells[i].name},
                      {"finished", done},
                      {"steps", steps},
                      {"step_seconds", seconds},
                      {"seconds", cost}});
    progress.update(static_cast<std::int64_t>(i + 1), cells[i].name);
  }
  progress.finish();
  common.say() << table.str() << "\nTraining what is left takes about " << readable_seconds(total)
               << " here with these threads, from a few steps on noise; evaluation comes on top.\n";
  common.result({{"cells", result}, {"seconds", total}});
  return kSuccess;
}

// table.md, .csv, .tex and figures of what is finished. One process at a time writes them.
void write_results(const std::string& folder, const Experiment& experiment, const Plan& plan,
                   const std::string& summary, const Json& table,
                   const std::vector<CellResult>& results, Json& files) {
  std::filesystem::create_directories(folder);
  const FileLock lock(folder + "/lock", FileLock::When::kWait);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file(folder + "/" + name, text);
    files.push_back(folder + "/" + name);
  };
  if (!plan.cells.empty()) {
    write("table.md", str("# ", experiment.title, "\n\n", plan.note, "\n\n", summary, "\n\n",
                          table_markdown(plan, table)));
    write("table.csv", table_csv(plan, table));
    write("table.tex", table_latex(plan, table));
  }
  for (const Figure& figure : experiment.figures) {
    const Drawing drawing = draw_figure(figure, results);
    if (drawing.svg.empty()) continue;
    write(figure.name + ".svg", drawing.svg);
    write(figure.name + ".csv", drawing.csv);
  }
}

// Says and writes what the finished cells show together.
int report(const ReproduceArguments& o, const std::string& folder, const Experiment& experiment,
           const Plan& plan, const CellOutcome& outcome, const Json& skipped,
           const Common& common) {
  const std::vector<CellResult> results = read_results(folder, plan);
  const Json table = make_table(experiment, plan, results);
  const Json checks = run_checks(experiment, results);
  const auto finished = std::count_if(results.begin(), results.end(),
                                      [](const CellResult& r) { return !r.numbers.is_null(); });
  const auto foreign =
      std::count_if(results.begin(), results.end(), [](const CellResult& r) { return r.foreign; });
  const std::string summary = str(
      finished, " of ", plan.cells.size(), " runs are finished; mean ± deviation over seeds.",
      foreign > 0 ? str(" ", foreign, " runs in the folder have other settings and are left out.")
                  : "");
  Json files = Json::array();
  if (finished > 0 || plan.cells.empty())
    write_results(folder, experiment, plan, summary, table, results, files);

  if (!plan.cells.empty())
    common.say() << "\n" << table_markdown(plan, table) << "\n" << summary << "\n";
  bool passed = true;
  for (const Json& check : checks) {
    const bool ok = check["passed"].get<bool>();
    passed = passed && ok;
    common.say() << (ok ? "ok: " : "NOT MET: ") << printable(check["check"]) << ", found "
                 << readable(check["value"].get<double>()) << "\n";
  }
  if (!files.empty()) common.say() << "Written to " << folder << ".\n";
  Json failed = Json::array();
  for (const auto& [cell, why] : outcome.failed) {
    std::cerr << "failed: " << cell << ": " << why << "\n";
    failed.push_back({{"cell", cell}, {"why", why}});
  }
  if (stop_requested()) std::cerr << "Stopped. The same command goes on where this one was.\n";
  common.result({{"experiment", experiment.name},
                 {"budget", o.budget},
                 {"table", table},
                 {"cells", plan.cells.size()},
                 {"finished", finished},
                 {"ran", outcome.ran},
                 {"busy", outcome.busy},
                 {"skipped", skipped},
                 {"failed", failed},
                 {"checks", checks},
                 {"files", files}});
  const bool nothing = finished == 0 && !skipped.empty();
  return outcome.failed.empty() && passed && !nothing && !stop_requested() ? kSuccess : kFailure;
}

}  // namespace

int run_reproduce(const ReproduceArguments& o, const Common& common) {
  const Experiment experiment = find_experiment(o);
  const Plan plan = make_plan(experiment, o.budget, changes(o, common));
  const std::string folder =
      str(o.out.empty() ? "reproduce/" + o.budget : o.out, "/", experiment.name);
  common.say() << printable(str(experiment.title, "\nBudget ", o.budget, ": ", plan.note, "\n"));
  DataFolder data(o.data_dir);
  Json skipped = Json::array();
  const std::vector<Cell> cells = cells_with_data(plan, data, common, skipped);
  if (o.dry_run) return dry_run(folder, cells, data, common);
  catch_signals();
  const CellOutcome outcome = run_cells(folder, cells, data, common);
  // The table is of everything in the folder, whoever ran it.
  PlanChanges whole = changes(o, common);
  whole.only.clear();
  return report(o, folder, experiment, make_plan(experiment, o.budget, whole), outcome, skipped,
                common);
}

}  // namespace cpl::cli
