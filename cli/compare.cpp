// cplearn compare: settings and results of runs in a table, from their files.

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/runs.h"
#include "cplearn/base/table.h"
#include "cplearn/report/comparison.h"

namespace cpl::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  bool all = false;
};

// Rows that differ stand out: with an asterisk, and bold on a terminal.
std::string table_of(const std::vector<ComparedRow>& rows, const std::string& what,
                     const std::vector<RunRecord>& runs, bool all, bool bold) {
  std::vector<std::string> header = {what};
  for (const RunRecord& run : runs) header.push_back(run.path);
  TextTable table(header);
  std::vector<bool> marked = {false, false};  // the header and the line below it
  for (const ComparedRow& row : rows) {
    if (!all && !row.differs) continue;
    std::vector<std::string> cells = {row.name + (all && row.differs ? " *" : "")};
    for (const std::string& value : row.values) cells.push_back(value.empty() ? "-" : value);
    table.add(cells);
    marked.push_back(all && row.differs);
  }
  if (marked.size() == 2) return str("no ", what, " differs\n");
  std::string text;
  std::istringstream lines(table.str());
  std::string line;
  for (std::size_t i = 0; std::getline(lines, line); ++i)
    text +=
        bold && i < marked.size() && marked[i] ? str("\033[1m", line, "\033[0m\n") : line + "\n";
  return text;
}

int run_compare(const CompareArguments& o, const Common& common) {
  const std::vector<RunRecord> runs = read_runs(o.runs);
  show_problems(runs);
  const Comparison c = compare_runs(runs);
  const bool all = o.all || runs.size() == 1;
  const bool bold = !common.json && ::isatty(STDOUT_FILENO);
  common.say() << table_of(c.settings, "setting", runs, all, bold) << "\n"
               << table_of(c.results, "result", runs, all, bold);
  if (!all) common.say() << "\nOnly what differs; --all shows the rest.\n";

  Json list = Json::array();
  for (const RunRecord& record : runs) {
    Json settings = Json::object();
    for (const Setting& s : record.settings) settings[s.name] = s.value;
    list.push_back(
        {{"run", record.path},
         {"settings", settings},
         {"summary", record.summary},
         {"eval", record.eval},
         {"verdict",
          record.diagnosis.is_object() ? record.diagnosis.value("verdict", Json()) : Json()}});
  }
  Json different = Json::array();
  for (const ComparedRow& row : c.settings)
    if (row.differs) different.push_back(row.name);
  common.result({{"runs", list}, {"different_settings", different}});
  return kSuccess;
}

}  // namespace

Run declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareArguments>();
  app.add_option("run", options->runs, "run directories")->required();
  AddOptions add(app);
  add("all", options->all, "also what is the same in all of them");
  return [options](const Common& common) { return run_compare(*options, common); };
}

}  // namespace cpl::cli
