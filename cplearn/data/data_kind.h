#pragma once
// The table of data sets that `--data` can name. data/open_source.h opens them.

#include <string>
#include <vector>

namespace cpl {

struct DataKind {
  std::string name;
  std::string usage;
  std::string help;
  std::vector<std::string> splits;  // what may stand after '@'
};

const std::vector<DataKind>& data_kinds();

// Null when there is none of that name.
const DataKind* find_data_kind(const std::string& name);

}  // namespace cpl
