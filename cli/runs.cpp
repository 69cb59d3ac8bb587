#include "cli/runs.h"

#include "cplearn/train/options.h"

namespace cpl::cli {

std::vector<OptionText> train_settings() {
  std::vector<OptionText> settings = list_options(TrainOptions());
  for (OptionText& option : list_options(SessionOptions())) settings.push_back(std::move(option));
  return settings;
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths) {
  const std::vector<OptionText> settings = train_settings();
  std::vector<RunRecord> runs;
  for (const std::string& path : paths) runs.push_back(read_run(path, settings));
  return runs;
}

}  // namespace cpl::cli
