#include "cplearn/report/comparison.h"

#include <algorithm>

#include "cplearn/base/table.h"

namespace cpl {
namespace {

// Files may hold anything; a terminal must not obey it.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text;
}

class Rows {
 public:
  explicit Rows(std::size_t runs) : runs_(runs) {}

  void put(std::size_t run, const std::string& name, const std::string& value) {
    const std::string shown = printable(name);
    auto row = std::find_if(rows_.begin(), rows_.end(),
                            [&](const ComparedRow& r) { return r.name == shown; });
    if (row == rows_.end()) {
      rows_.push_back({shown, std::vector<std::string>(runs_), false});
      row = rows_.end() - 1;
    }
    row->values[run] = printable(value);
  }

  std::vector<ComparedRow> take() {
    for (ComparedRow& row : rows_) {
      row.differs = std::any_of(row.values.begin(), row.values.end(),
                                [&](const std::string& v) { return v != row.values.front(); });
    }
    return std::move(rows_);
  }

 private:
  std::size_t runs_;
  std::vector<ComparedRow> rows_;
};

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return readable(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The plain values of an object; lists and objects in it are for the report.
void put_results(Rows& rows, std::size_t run, const std::string& prefix, const Json& object) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.items()) {
    if (value.is_primitive() && !value.is_null() && name != "run")
      rows.put(run, prefix + name, value_text(value));
  }
}

}  // namespace

Comparison compare_runs(const std::vector<RunRecord>& runs) {
  Rows settings(runs.size()), results(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const Setting& s : runs[i].settings) settings.put(i, s.name, s.value);
    put_results(results, i, "", runs[i].summary);
    put_results(results, i, "eval ", runs[i].eval);
    const Json& diagnosis = runs[i].diagnosis;
    if (!diagnosis.is_object()) continue;
    if (diagnosis.contains("verdict"))
      results.put(i, "diagnose verdict", value_text(diagnosis["verdict"]));
    for (const char* what : {"representation", "dimensional", "cluster", "intracluster"}) {
      if (diagnosis.contains(what) && diagnosis[what].is_object())
        results.put(i, str("diagnose ", what), value_text(diagnosis[what].value("value", Json())));
    }
  }
  return {settings.take(), results.take()};
}

}  // namespace cpl
