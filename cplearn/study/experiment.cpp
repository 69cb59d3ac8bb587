#include "cplearn/study/experiment.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>

#include "cplearn/base/error.h"
#include "cplearn/base/options.h"
#include "cplearn/base/text.h"

namespace cpl {
namespace {

// A comment begins at a '#' at the start or after a blank.
std::string without_comment(const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1]))))
      return trim(line.substr(0, i));
  return trim(line);
}

std::pair<std::string, std::string> parse_line(const std::string& line, const std::string& where) {
  const auto equals = line.find('=');
  CPL_CHECK(equals != std::string::npos && equals > 0, where, ": expected 'name = value', got '",
            line, "'");
  return {trim(line.substr(0, equals)), trim(line.substr(equals + 1))};
}

// Figures and cells are written under names that the text gives them: these must not lead
// elsewhere.
void check_name(const std::string& name, const char* what, const std::string& where) {
  CPL_CHECK(!name.empty(), where, ": an empty ", what);
  const bool plain = name.front() != '.' && std::none_of(name.begin(), name.end(), [](char c) {
                       return c == '/' || std::iscntrl(static_cast<unsigned char>(c));
                     });
  CPL_CHECK(plain, where, ": ", what, " '", printable(name),
            "' becomes a part of a file's name: write it without '/', control characters and a '.' "
            "in front");
}

bool is_axis(const std::string& key) { return key.rfind("axis ", 0) == 0; }

struct Axis {
  std::string name;
  std::vector<std::string> values;
};

Axis parse_axis(const std::string& key, const std::string& values) {
  return {trim(key.substr(5)), split(values, ',')};
}

void check_axis(const Axis& axis, const std::string& where) {
  check_name(axis.name, "axis", where);
  CPL_CHECK(!axis.values.empty(), where, ": axis ", axis.name, " has no values after '='");
  for (const std::string& value : axis.values) check_name(value, "value", where);
}

// "A : column < limit" or "A / B : column < limit", A and B being conditions.
Check parse_check(const std::string& line, const std::string& where) {
  Check check;
  check.text = line;
  const auto colon = line.find(':');
  const auto less = line.find('<', colon == std::string::npos ? 0 : colon);
  CPL_CHECK(colon != std::string::npos && less != std::string::npos, where,
            ": expected 'cells : column < number' or 'cells / cells : column < number', got '",
            line, "'");
  const std::vector<std::string> cells = split(line.substr(0, colon), '/');
  CPL_CHECK(cells.size() == 1 || cells.size() == 2, where, ": too many '/' in '", line, "'");
  check.of = parse_conditions(cells[0], where);
  if (cells.size() == 2) check.over = parse_conditions(cells[1], where);
  check.column = trim(line.substr(colon + 1, less - colon - 1));
  const std::string limit = trim(line.substr(less + 1));
  char* end = nullptr;
  check.limit = std::strtod(limit.c_str(), &end);
  CPL_CHECK(!limit.empty() && *end == '\0', where, ": '", limit, "' is not a number");
  return check;
}

bool holds(const Condition& condition, const std::string& value) {
  return std::count(condition.values.begin(), condition.values.end(), value) > 0;
}

bool only_about_budget(const Section& section) {
  return std::all_of(section.when.begin(), section.when.end(),
                     [](const Condition& c) { return c.key == "budget"; });
}

// What describes the experiment rather than a run.
bool is_description(const std::string& name) {
  return name == "title" || name == "seeds" || name == "columns" || name == "note" || is_axis(name);
}

// The value of `key`: an axis before a setting, null if there is neither.
const std::string* find(const std::string& key, const NamedText& axes, const Settings& settings) {
  for (const auto& [name, value] : axes)
    if (name == key) return &value;
  const auto found = settings.find(key);
  return found == settings.end() ? nullptr : &found->second;
}

Settings settings_for(const Experiment& experiment, const NamedText& axes) {
  Settings settings;
  for (const auto& [name, value] : axes)
    if (name != "budget") settings[name] = value;
  for (const Section& section : experiment.sections) {
    const bool applies =
        std::all_of(section.when.begin(), section.when.end(), [&](const Condition& condition) {
          const std::string* value = find(condition.key, axes, settings);
          return value && holds(condition, *value);
        });
    if (!applies) continue;
    for (const auto& [name, value] : section.lines)
      if (!is_description(name)) settings[name] = value;
  }
  return settings;
}

// "cifar10-codes128-s0": a number alone would not say of what.
std::string cell_name(const NamedText& axes, std::uint64_t seed) {
  std::string text;
  for (const auto& [name, value] : axes) {
    const bool number = !value.empty() && std::isdigit(static_cast<unsigned char>(value[0]));
    text += str(number ? name : "", value, "-");
  }
  return str(text, "s", seed);
}

// Every combination of the axes' values, the last axis fastest.
std::vector<NamedText> combinations(const std::vector<Axis>& axes) {
  std::vector<NamedText> result = {{}};
  for (const Axis& axis : axes) {
    std::vector<NamedText> longer;
    for (const NamedText& before : result) {
      for (const std::string& value : axis.values) {
        longer.push_back(before);
        longer.back().emplace_back(axis.name, value);
      }
    }
    result = std::move(longer);
  }
  return result;
}

// NMI grows with the number of clusters by chance alone: wherever it stands, so do its chance
// level, the score that is corrected for it, and the number of codes in use.
std::vector<std::string> honest(const std::vector<std::string>& columns) {
  std::vector<std::string> result;
  const auto add = [&result](const std::string& name) {
    if (!std::count(result.begin(), result.end(), name)) result.push_back(name);
  };
  for (const std::string& column : columns) {
    add(column);
    if (column != "nmi") continue;
    for (const char* name : {"nmi_chance", "ami", "codes_used"}) add(name);
  }
  return result;
}

}  // namespace

Conditions parse_conditions(const std::string& text, const std::string& source) {
  Conditions result;
  for (const std::string& part : split(text, ',')) {
    const auto [key, value] = parse_line(part, source);
    CPL_CHECK(!value.empty(), source, ": '", part, "' has no value after '='");
    result.push_back({key, split(value, '|')});
  }
  CPL_CHECK(!result.empty(), source, ": expected conditions such as method=swav, codes=128");
  return result;
}

Experiment parse_experiment(const std::string& name, const std::string& text,
                            const std::string& source) {
  Experiment experiment;
  experiment.name = name;
  experiment.sections.emplace_back();
  enum class In { kSettings, kPaper, kFigure, kCheck } in = In::kSettings;
  std::istringstream stream(text);
  std::string raw;
  for (int number = 1; std::getline(stream, raw); ++number) {
    const std::string line = without_comment(raw);
    const std::string where = str(source, ", line ", number);
    if (line.empty()) continue;
    if (line.front() == '[') {
      CPL_CHECK(line.back() == ']', where, ": '", line, "' has no closing ]");
      const std::string head = trim(line.substr(1, line.size() - 2));
      if (head == "paper") {
        in = In::kPaper;
      } else if (head == "check") {
        in = In::kCheck;
      } else if (head.rfind("figure ", 0) == 0) {
        in = In::kFigure;
        const std::string figure = trim(head.substr(7));
        check_name(figure, "figure", where);
        CPL_CHECK(figure != "table", where,
                  ": a figure cannot be called table, as the results are");
        experiment.figures.push_back({figure, {}});
      } else {
        in = In::kSettings;
        experiment.sections.push_back({parse_conditions(head, where), {}});
      }
      continue;
    }
    if (in == In::kPaper) {
      experiment.paper.push_back(words(line));
      CPL_CHECK(experiment.paper.back().size() == experiment.paper.front().size(), where, ": ",
                experiment.paper.back().size(), " values under ", experiment.paper.front().size(),
                " names; write - where there is none");
    } else if (in == In::kCheck) {
      experiment.checks.push_back(parse_check(line, where));
    } else if (in == In::kFigure) {
      experiment.figures.back().settings.insert(parse_line(line, where));
    } else {
      const auto [key, value] = parse_line(line, where);
      CPL_CHECK(!is_description(key) || only_about_budget(experiment.sections.back()), where, ": ",
                key, " can only depend on the budget");
      if (is_axis(key)) check_axis(parse_axis(key, value), where);
      if (key == "title") experiment.title = value;
      experiment.sections.back().lines.emplace_back(key, value);
    }
  }
  return experiment;
}

const std::vector<std::string>& budgets() {
  static const std::vector<std::string> names = {"smoke", "cpu", "paper"};
  return names;
}

Plan make_plan(const Experiment& experiment, const std::string& budget,
               const PlanChanges& changes) {
  CPL_CHECK(std::count(budgets().begin(), budgets().end(), budget), "there is no budget '", budget,
            "': choose one of ", joined(budgets()));
  Plan plan;
  plan.budget = budget;
  std::int64_t seeds = 1;
  std::vector<Axis> axes;
  for (const Section& section : experiment.sections) {
    const bool applies =
        only_about_budget(section) &&
        std::all_of(section.when.begin(), section.when.end(),
                    [&](const Condition& condition) { return holds(condition, budget); });
    if (!applies) continue;
    for (const auto& [name, value] : section.lines) {
      if (name == "note") plan.note = value;
      if (name == "columns") plan.columns = honest(split(value, ','));
      if (name == "seeds") seeds = std::max(0L, std::strtol(value.c_str(), nullptr, 10));
      if (!is_axis(name)) continue;
      const Axis axis = parse_axis(name, value);
      const auto same = std::find_if(axes.begin(), axes.end(),
                                     [&](const Axis& other) { return other.name == axis.name; });
      if (same == axes.end()) {
        axes.push_back(axis);
      } else {
        *same = axis;
      }
    }
  }
  for (const Axis& axis : axes) plan.axes.push_back(axis.name);
  if (changes.seeds > 0) seeds = changes.seeds;
  std::set<std::string> names;
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    for (const NamedText& values : combinations(axes)) {
      Cell cell;
      cell.axes = values;
      cell.seed = changes.first_seed + static_cast<std::uint64_t>(seed);
      cell.name = cell_name(values, cell.seed);
      CPL_CHECK(names.insert(cell.name).second, experiment.name,
                ": two cells would share the folder '", printable(cell.name),
                "': give the axes values that differ, also without their '-'");
      NamedText known = values;
      known.emplace_back("budget", budget);
      cell.settings = settings_for(experiment, known);
      for (const auto& [name, value] : changes.settings) cell.settings[name] = value;
      if (!cell.settings.count("skip") && matches(changes.only, cell))
        plan.cells.push_back(std::move(cell));
    }
  }
  std::string known;
  for (const Axis& axis : axes) known += str("\n  ", axis.name, " = ", joined(axis.values));
  CPL_CHECK(!plan.cells.empty() || seeds == 0, "no cell of ", experiment.name,
            " is left by --only; its axes are", known, "\nand any setting can be named as well");
  return plan;
}

bool matches(const Conditions& conditions, const Cell& cell) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    if (condition.key == "seed") return holds(condition, std::to_string(cell.seed));
    const std::string* value = find(condition.key, cell.axes, cell.settings);
    return value && holds(condition, *value);
  });
}

std::string paper_value(const Experiment& experiment, const Cell& cell, const std::string& column) {
  if (experiment.paper.empty()) return "";
  const std::vector<std::string>& names = experiment.paper.front();
  const auto wanted = std::find(names.begin(), names.end(), column);
  if (wanted == names.end()) return "";
  for (std::size_t r = 1; r < experiment.paper.size(); ++r) {
    const std::vector<std::string>& row = experiment.paper[r];
    const bool same = std::all_of(cell.axes.begin(), cell.axes.end(), [&](const auto& axis) {
      const auto at = std::find(names.begin(), names.end(), axis.first);
      return at != names.end() && row[static_cast<std::size_t>(at - names.begin())] == axis.second;
    });
    const std::string& value = row[static_cast<std::size_t>(wanted - names.begin())];
    if (same) return value == "-" ? "" : value;
  }
  return "";
}

}  // namespace cpl
