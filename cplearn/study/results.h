#pragma once
// What the finished cells of an experiment say together: mean and deviation over seeds beside the
// paper's numbers, as a table for people (Markdown), spreadsheets (CSV), papers (LaTeX), programs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cplearn/study/experiment.h"

namespace cpl {

struct CellResult {
  Cell cell;
  std::string directory;
  nlohmann::ordered_json numbers;  // null: not finished
  bool foreign = false;            // finished, but with other settings than the plan's
};

// Reads the cell.json files of the plan's cells below `directory`.
std::vector<CellResult> read_results(const std::string& directory, const Plan& plan);

struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;  // of the sample (n - 1); 0 for one value
};
Spread spread(const std::vector<double>& values);

// A row for each setting that has a finished cell: its axes, "seeds", and for each column
// {"mean", "deviation", "paper"}, or null.
nlohmann::ordered_json make_table(const Experiment& experiment, const Plan& plan,
                                  const std::vector<CellResult>& results);

std::string table_markdown(const Plan& plan, const nlohmann::ordered_json& table);
std::string table_csv(const Plan& plan, const nlohmann::ordered_json& table);
std::string table_latex(const Plan& plan, const nlohmann::ordered_json& table);

// Each of the experiment's checks: {"check", "value", "limit", "passed"}; those whose cells are not
// finished are left out.
nlohmann::ordered_json run_checks(const Experiment& experiment,
                                  const std::vector<CellResult>& results);

// What a table calls a column.
std::string column_heading(const std::string& column);

}  // namespace cpl
