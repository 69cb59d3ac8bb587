#pragma once
// What commands about finished runs share: reading their files, and filling them.

#include <string>
#include <vector>

#include "cli/command.h"
#include "cplearn/report/run_record.h"

namespace cpl::cli {

// Every setting of `cplearn train`, with the method's default; the common ones if there is no such
// method.
std::vector<OptionText> train_settings(const std::string& method);

std::vector<RunRecord> read_runs(const std::vector<std::string>& paths);
void show_problems(const std::vector<RunRecord>& runs);  // of reading them, on standard error

}  // namespace cpl::cli
