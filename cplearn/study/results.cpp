#include "cplearn/study/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "cplearn/base/table.h"
#include "cplearn/study/cell.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  const char* name;
  const char* heading;
  int digits;  // after the point
};

const std::vector<Column>& known_columns() {
  static const std::vector<Column> table = {
      {"nmi", "NMI", 3},
      {"nmi_chance", "NMI by chance", 3},
      {"ami", "AMI", 3},
      {"codes_used", "codes used", 0},
      {"linear_top1", "linear acc.", 3},
      {"linear_top5", "linear top-5", 3},
      {"knn_top1", "kNN acc.", 3},
      {"kmeans_ami", "k-means AMI", 3},
      {"cluster_accuracy", "k-means acc.", 3},
      {"effective_rank", "effective rank", 1},
      {"weights_mb", "weights MiB", 1},
      {"checkpoint_mb", "checkpoint MiB", 1},
      {"step_ms", "ms per step", 1},
      {"step_ms_best", "ms, fastest step", 1},
      {"minutes", "training min", 1},
      {"feature_mean", "features' |mean|", 3},
      {"feature_deviation", "features' deviation", 3},
      {"loss", "loss", 3},
      {"invariance", "invariance", 3},
      {"prior", "prior", 3},
  };
  return table;
}

const Column* find_column(const std::string& name) {
  for (const Column& column : known_columns())
    if (name == column.name) return &column;
  return nullptr;
}

std::string fixed(const std::string& column, double value) {
  const Column* known = find_column(column);
  if (!known) return readable(value);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", known->digits, value);
  return text;
}

bool has_paper(const Json& table, const std::string& column) {
  return std::any_of(table.begin(), table.end(), [&](const Json& row) {
    return row[column].is_object() && row[column].contains("paper");
  });
}

// Header and rows of the table; `number` writes a mean with its deviation.
using Rows = std::vector<std::vector<std::string>>;
using WriteNumber =
    std::function<std::string(const std::string& column, double mean, double deviation, bool one)>;

Rows text_rows(const Plan& plan, const Json& table, const WriteNumber& number) {
  Rows rows(1);
  for (const std::string& axis : plan.axes) rows[0].push_back(axis == "row" ? "method" : axis);
  rows[0].push_back("seeds");
  for (const std::string& column : plan.columns) {
    rows[0].push_back(column_heading(column));
    if (has_paper(table, column)) rows[0].push_back("(paper)");
  }
  for (const Json& line : table) {
    std::vector<std::string> row;
    for (const std::string& axis : plan.axes)
      row.push_back(axis == "row" && line.contains("label") ? line["label"].get<std::string>()
                                                            : line[axis].get<std::string>());
    const int seeds = line["seeds"].get<int>();
    row.push_back(std::to_string(seeds));
    for (const std::string& column : plan.columns) {
      const Json& value = line[column];
      const bool there = value.is_object() && value.contains("mean");
      row.push_back(there ? number(column, value["mean"], value["deviation"], seeds == 1) : "-");
      if (has_paper(table, column))
        row.push_back(value.is_object() ? value.value("paper", "-") : "-");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string plus_minus(const std::string& column, double mean, double deviation, bool one,
                       const char* sign) {
  return one ? fixed(column, mean) : str(fixed(column, mean), sign, fixed(column, deviation));
}

std::string latex(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "±") == 0) {
      result += "$\\pm$";
      ++i;
    } else {
      if (std::string("%_&#$").find(text[i]) != std::string::npos) result += '\\';
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<CellResult> read_results(const std::string& directory, const Plan& plan) {
  std::vector<CellResult> results;
  for (const Cell& cell : plan.cells) {
    CellResult result{cell, directory + "/" + cell.name, nullptr, false};
    Json finished;
    try {
      finished = finished_cell(result.directory);
    } catch (const Error&) {  // damaged: whoever ran the cells has said so
    }
    if (!finished.is_null()) {
      result.foreign = finished.value("settings", "") != settings_text(resolve_cell(cell, ""));
      if (!result.foreign) result.numbers = finished["numbers"];
    }
    results.push_back(std::move(result));
  }
  return results;
}

Spread spread(const std::vector<double>& values) {
  Spread result;
  result.count = values.size();
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.deviation = std::sqrt(squares / (n - 1));
  return result;
}

Json make_table(const Experiment& experiment, const Plan& plan,
                const std::vector<CellResult>& results) {
  Json table = Json::array();
  for (const CellResult& first : results) {
    std::vector<const CellResult*> same;  // the seeds of this setting that are finished
    const CellResult* earliest = nullptr;
    for (const CellResult& other : results) {
      if (other.cell.axes != first.cell.axes) continue;
      if (!earliest) earliest = &other;
      if (!other.numbers.is_null()) same.push_back(&other);
    }
    if (earliest != &first || same.empty()) continue;
    Json row;
    for (const auto& [name, value] : first.cell.axes) row[name] = value;
    const auto label = first.cell.settings.find("label");
    if (label != first.cell.settings.end()) row["label"] = label->second;
    row["seeds"] = same.size();
    for (const std::string& column : plan.columns) {
      std::vector<double> values;
      for (const CellResult* result : same)
        if (result->numbers.contains(column) && result->numbers[column].is_number())
          values.push_back(result->numbers[column].get<double>());
      const std::string paper = paper_value(experiment, first.cell, column);
      Json entry;
      if (!values.empty()) {
        const Spread s = spread(values);
        entry["mean"] = s.mean;
        entry["deviation"] = s.deviation;
      }
      if (!paper.empty()) entry["paper"] = paper;
      row[column] = entry;
    }
    table.push_back(row);
  }
  return table;
}

std::string table_markdown(const Plan& plan, const Json& table) {
  const Rows rows =
      text_rows(plan, table, [](const std::string& column, double mean, double d, bool one) {
        return plus_minus(column, mean, d, one, "±");
      });
  TextTable text(rows[0]);
  for (std::size_t i = 1; i < rows.size(); ++i) text.add(rows[i]);
  return text.str();
}

std::string table_csv(const Plan& plan, const Json& table) {
  std::string text;
  const auto add = [&text](const std::string& value) {
    text += str(text.empty() || text.back() == '\n' ? "" : ",", value);
  };
  for (const std::string& axis : plan.axes) add(axis);
  add("seeds");
  for (const std::string& column : plan.columns) {
    add(column);
    add(column + "_deviation");
    add(column + "_paper");
  }
  text += '\n';
  for (const Json& row : table) {
    for (const std::string& axis : plan.axes) add(row[axis].get<std::string>());
    add(row["seeds"].dump());
    for (const std::string& column : plan.columns) {
      const Json& value = row[column];
      for (const char* part : {"mean", "deviation"})
        add(value.is_object() && value.contains(part) ? value[part].dump() : "");
      add(value.is_object() ? value.value("paper", "") : "");
    }
    text += '\n';
  }
  return text;
}

std::string table_latex(const Plan& plan, const Json& table) {
  const Rows rows =
      text_rows(plan, table, [](const std::string& column, double mean, double d, bool one) {
        return plus_minus(column, mean, d, one, "±");
      });
  std::string text = "\\begin{tabular}{" + std::string(plan.axes.size(), 'l') +
                     std::string(rows[0].size() - plan.axes.size(), 'r') + "}\n\\toprule\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].size(); ++i) text += str(i ? " & " : "", latex(rows[r][i]));
    text += r == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

Json run_checks(const Experiment& experiment, const std::vector<CellResult>& results) {
  Json checks = Json::array();
  const auto mean = [&](const Conditions& cells, const std::string& column) {
    std::vector<double> values;
    for (const CellResult& result : results)
      if (matches(cells, result.cell) && result.numbers.contains(column) &&
          result.numbers[column].is_number())
        values.push_back(result.numbers[column].get<double>());
    return spread(values);
  };
  for (const Check& check : experiment.checks) {
    Spread value = mean(check.of, check.column);
    if (value.count == 0) continue;
    if (!check.over.empty()) {
      const Spread other = mean(check.over, check.column);
      if (other.count == 0) continue;
      value.mean /= other.mean;
    }
    checks.push_back({{"check", check.text},
                      {"value", value.mean},
                      {"limit", check.limit},
                      {"passed", value.mean < check.limit}});
  }
  return checks;
}

std::string column_heading(const std::string& column) {
  const Column* known = find_column(column);
  return known ? known->heading : column;
}

}  // namespace cpl
