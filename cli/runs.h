#pragma once
// What commands about finished runs share: reading their files.

#include <string>
#include <vector>

#include "cplearn/report/run_record.h"

namespace cpl::cli {

// Every setting of `cplearn train`, with its default.
std::vector<OptionText> train_settings();

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths);

}  // namespace cpl::cli
