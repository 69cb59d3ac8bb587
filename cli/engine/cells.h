#pragma once
// The cells of an experiment from the command line: found by name, run one after the other, with
// words for people. For `reproduce` and `gauntlet`.

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cplearn/study/cell.h"

namespace cpl::cli {

// Throws cpl::Error with the nearest name.
Experiment builtin_experiment(const std::string& name);

// The data set that a cell learns from.
std::string data_name(const Cell& cell);

// The cells whose data are there; the names of the others go to `skipped`, and a note to people.
std::vector<Cell> cells_with_data(const Plan& plan, DataFolder& data, const Common& common,
                                  Json& skipped);

struct CellOutcome {
  int ran = 0, busy = 0;
  std::vector<std::pair<std::string, std::string>> failed;  // cell and reason
};

// Until all are done or a signal comes. A cell that fails does not stop the others.
CellOutcome run_cells(const std::string& folder, const std::vector<Cell>& cells, DataFolder& data,
                      const Common& common);

}  // namespace cpl::cli
