#pragma once
// Every plot of the report as files: NAME.svg and NAME.csv.

#include <string>
#include <vector>

#include "cplearn/report/run_record.h"

namespace cpl {

// Returns the files written into `directory`, which is made if needed. Lines of several runs share
// a plot; heat maps and maps get the number of their run (covariance-1, covariance-2, ...).
std::vector<std::string> write_figures(const std::vector<RunRecord>& runs,
                                       const std::string& directory);

}  // namespace cpl
