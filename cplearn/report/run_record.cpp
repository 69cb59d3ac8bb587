#include "cplearn/report/run_record.h"

#include <cmath>
#include <map>
#include <sstream>

#include "cplearn/base/file.h"

namespace cpl {
namespace {

constexpr std::uint64_t kMostFileBytes = 1ull << 28;  // of one file: a page beyond helps nobody
constexpr int kDeepestNesting = 16;                   // of nested lists and objects

// The text of a file; "" if there is none, and a problem if it cannot be read.
std::string text_of(const std::string& path, std::vector<std::string>& problems) {
  if (!file_exists(path)) return "";
  try {
    return read_file(path, kMostFileBytes);
  } catch (const Error& error) {
    problems.emplace_back(error.what());
    return "";
  }
}

// Bounded in depth, because writing an object again is recursive.
Json parse(const std::string& text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    CPL_CHECK(depth <= kDeepestNesting, "is nested deeper than ", kDeepestNesting, " levels");
    return true;
  });
}

Json object_of(const std::string& path, std::vector<std::string>& problems) {
  const std::string text = text_of(path, problems);
  if (text.empty()) return nullptr;
  try {
    Json object = parse(text);
    CPL_CHECK(object.is_object(), "is not a JSON object");
    return object;
  } catch (const std::exception& error) {
    problems.push_back(str(path, ": ", error.what()));
    return nullptr;
  }
}

std::vector<Setting> settings_of(const std::string& text, const std::string& source,
                                 const KnownSettings& known) {
  std::map<std::string, std::string> found = parse_config(text, source);
  const auto method = found.find("method");
  std::vector<Setting> settings;
  for (const OptionText& option : known(method == found.end() ? "" : method->second)) {
    const auto it = found.find(option.name);
    if (it == found.end()) continue;
    settings.push_back({option.name, it->second, option.value, option.help});
    found.erase(it);
  }
  for (const auto& [name, value] : found) settings.push_back({name, value, "", ""});
  return settings;
}

std::string command_of(const std::string& path, const std::vector<Setting>& settings) {
  std::string command = "cplearn train";
  for (const Setting& s : settings) {
    const bool unknown = s.help.empty();  // `train` would refuse it
    if (unknown || (s.value == s.standard && s.name != "data")) continue;
    const bool flag = s.standard == "true" || s.standard == "false";
    if (flag) {
      command += str(s.value == "true" ? " --" : " --no-", s.name);
    } else {
      command += str(" --", s.name, " ", shell_word(s.value));
    }
  }
  return command + " --out " + shell_word(path);
}

}  // namespace

const std::vector<std::string>& record_files() {
  static const std::vector<std::string> names = {"config.toml", "metrics.jsonl",  "summary.json",
                                                 "eval.json",   "diagnosis.json", "gallery.json"};
  return names;
}

std::string shell_word(const std::string& text) {
  static const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

RunRecord read_run_but_metrics(const std::string& path, const KnownSettings& known) {
  RunRecord record;
  record.path = path;
  while (record.path.size() > 1 && record.path.back() == '/') record.path.pop_back();
  const auto file = [&](const char* name) { return record.path + "/" + name; };
  CPL_CHECK(file_exists(file("config.toml")) || file_exists(file("metrics.jsonl")),
            "there is no run at ", path, ": give the directory that 'cplearn train' printed");
  try {
    record.settings =
        settings_of(text_of(file("config.toml"), record.problems), file("config.toml"), known);
  } catch (const Error& error) {
    record.problems.emplace_back(error.what());
  }
  record.command = command_of(record.path, record.settings);
  record.summary = object_of(file("summary.json"), record.problems);
  record.eval = object_of(file("eval.json"), record.problems);
  record.diagnosis = object_of(file("diagnosis.json"), record.problems);
  record.gallery = object_of(file("gallery.json"), record.problems);
  return record;
}

RunRecord read_run(const std::string& path, const KnownSettings& known) {
  RunRecord record = read_run_but_metrics(path, known);
  record.metrics = text_of(record.path + "/metrics.jsonl", record.problems);
  record.metrics.resize(record.metrics.rfind('\n') + 1);  // a line that is being written waits
  return record;
}

std::vector<std::pair<std::string, Curve>> curves(const std::string& metrics) {
  std::vector<std::pair<std::string, Curve>> result;
  std::map<std::string, std::size_t> place;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    const Json values = Json::parse(line, nullptr, false);
    if (!values.is_object() || !values.contains("step") || !values["step"].is_number()) continue;
    const double step = values["step"].get<double>();
    for (const auto& [name, value] : values.items()) {
      if (name == "step" || !value.is_number()) continue;
      const auto [it, fresh] = place.emplace(name, result.size());
      if (fresh) result.emplace_back(name, Curve());
      result[it->second].second.emplace_back(step, value.get<double>());
    }
  }
  return result;
}

}  // namespace cpl
