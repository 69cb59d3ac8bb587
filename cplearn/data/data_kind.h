#pragma once
// The table of data sets that `--data` can name.

#include <memory>
#include <string>
#include <vector>

#include "cplearn/data/decode.h"
#include "cplearn/data/source.h"
#include "cplearn/data/spec.h"

namespace cpl {

struct DataKind {
  std::string name;
  std::string usage;
  std::string help;
  std::vector<std::string> splits;  // what may stand after '@'
  std::unique_ptr<Source> (*open)(const DataSpec& spec, const DecodeOptions& decode);
};

const std::vector<DataKind>& data_kinds();

// Null when there is none of that name.
const DataKind* find_data_kind(const std::string& name);

}  // namespace cpl
