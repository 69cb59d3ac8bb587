#include "cli/engine/cells.h"

#include "cli/engine/signals.h"
#include "cplearn/base/file_lock.h"
#include "cplearn/base/text.h"
#include "cplearn/data/download.h"

namespace cpl::cli {

Experiment builtin_experiment(const std::string& wanted) {
  std::vector<std::string> names;
  for (Experiment& experiment : builtin_experiments()) {
    if (experiment.name == wanted) return experiment;
    names.push_back(experiment.name);
  }
  const std::string near = nearest_name(wanted, names);
  throw Error(str("there is no experiment '", wanted, "'",
                  near.empty() ? "" : str("; did you mean '", near, "'?"),
                  " 'cplearn reproduce --list' lists them"));
}

std::string data_name(const Cell& cell) {
  const auto found = cell.settings.find("data");
  return found == cell.settings.end() ? CellOptions().data : found->second;
}

std::vector<Cell> cells_with_data(const Plan& plan, DataFolder& data, const Common& common,
                                  Json& skipped) {
  std::vector<Cell> cells;
  std::map<std::string, int> missing;
  for (const Cell& cell : plan.cells) {
    if (!data.find(data_name(cell)).empty()) {
      cells.push_back(cell);
    } else {
      ++missing[data_name(cell)];
      skipped.push_back(cell.name);
    }
  }
  for (const auto& [name, count] : missing)
    common.say() << "! " << printable(name) << " is not in " << data.directory() << ": " << count
                 << " cells skipped (--data-dir says where data sets are"
                 << (remote_files(name).empty() ? ""
                                                : str("; 'cplearn data fetch ", name, ":",
                                                      data.directory(), "' downloads it"))
                 << ")\n";
  return cells;
}

CellOutcome run_cells(const std::string& folder, const std::vector<Cell>& cells, DataFolder& data,
                      const Common& common) {
  CellOutcome outcome;
  for (std::size_t i = 0; i < cells.size() && !stop_requested(); ++i) {
    const Cell& cell = cells[i];
    const std::string directory = folder + "/" + cell.name;
    const std::string words = str("[", i + 1, "/", cells.size(), "] ", cell.name);
    CellSession session;
    session.threads = common.threads;
    session.progress = common.progress();
    session.words = words;
    session.must_stop = stop_requested;
    try {
      switch (run_cell(directory, cell, resolve_cell(cell, data.find(data_name(cell))), session)) {
        case CellState::kFinished:
          ++outcome.ran;
          common.say() << words << ": done\n";
          break;
        case CellState::kWasFinished:
          break;
        case CellState::kBusy:
          ++outcome.busy;
          common.say() << words << ": " << printable(FileLock::holder(directory + "/lock"))
                       << " works on it\n";
          break;
        case CellState::kStopped:
          break;
      }
    } catch (const std::exception& error) {
      const std::string what = printable(error.what());
      outcome.failed.emplace_back(cell.name, what);
      common.say() << words << ": FAILED: " << what << "\n";
    }
  }
  return outcome;
}

}  // namespace cpl::cli
