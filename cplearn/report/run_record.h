#pragma once
// What the files of a run say, read without torch. Every file may be missing or damaged: the record
// then has less, and says so.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/base/config.h"

namespace cpl {

using Json = nlohmann::ordered_json;

struct Setting {
  std::string name, value;
  std::string standard;  // the default; "" if this version does not know the setting
  std::string help;
};

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann's destructor, which allocates
struct RunRecord {
  std::string path;
  std::vector<Setting> settings;           // config.toml, in the order of `known`
  std::string command;                     // a command that trains the same again
  std::string metrics;                     // metrics.jsonl, whole lines
  Json summary, eval, diagnosis, gallery;  // the .json files; null where there is none
  std::vector<std::string> problems;       // what could not be read, in words
};

// The files of a run that are read, by name.
const std::vector<std::string>& record_files();

// The settings of `cplearn train` with the defaults of a method.
using KnownSettings = std::function<std::vector<OptionText>(const std::string& method)>;

// Throws cpl::Error if there is no run at `path`.
RunRecord read_run(const std::string& path, const KnownSettings& known);
// For those who follow metrics.jsonl, which can be long, by themselves.
RunRecord read_run_but_metrics(const std::string& path, const KnownSettings& known);

// The values of one name over the steps: (step, value), where lines have it.
using Curve = std::vector<std::pair<double, double>>;
// All of them, in the order of their first appearance.
std::vector<std::pair<std::string, Curve>> curves(const std::string& metrics);

// A word of a shell's command line, in quotes if it needs them.
std::string shell_word(const std::string& text);

}  // namespace cpl
