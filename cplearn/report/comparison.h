#pragma once
// Runs beside each other: their settings and what came out, a row for each name.

#include <string>
#include <vector>

#include "cplearn/report/run_record.h"

namespace cpl {

struct ComparedRow {
  std::string name;
  std::vector<std::string> values;  // one for each run; "" where a run has none
  bool differs = false;
};

struct Comparison {
  std::vector<ComparedRow> settings;
  std::vector<ComparedRow> results;
};

Comparison compare_runs(const std::vector<RunRecord>& runs);

}  // namespace cpl
