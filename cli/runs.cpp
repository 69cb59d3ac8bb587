#include "cli/runs.h"

#include "cplearn/base/error.h"
#include "cplearn/base/text.h"
#include "cplearn/train/run_config.h"

namespace cpl::cli {

std::vector<OptionText> train_settings(const std::string& method) {
  TrainOptions defaults;
  try {
    defaults = default_options(method);
  } catch (const Error&) {  // of a version to come, or damaged: the page has the settings anyway
    defaults.method = "";
  }
  std::vector<OptionText> settings = list_options(defaults);
  for (OptionText& option : list_options(SessionOptions())) settings.push_back(std::move(option));
  return settings;
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunRecord> runs;
  for (const std::string& path : paths) runs.push_back(read_run(path, train_settings));
  return runs;
}

void show_problems(const std::vector<RunRecord>& runs) {
  for (const RunRecord& record : runs)
    for (const std::string& problem : record.problems)
      std::cerr << "! " << printable(problem) << "\n";
}

}  // namespace cpl::cli
