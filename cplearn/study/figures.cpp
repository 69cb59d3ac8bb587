#include "cplearn/study/figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/text.h"
#include "cplearn/report/chart.h"
#include "cplearn/study/dictionary_figure.h"
#include "cplearn/train/run.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;
using Curve = std::vector<std::pair<double, double>>;

// The finished seeds of one setting.
struct Group {
  NamedText axes;
  std::string label;  // without the value of `data`, which names the chart
  std::string data;
  std::vector<const CellResult*> runs;
};

std::vector<Group> make_groups(const std::vector<CellResult>& results, const std::string& except) {
  std::vector<Group> groups;
  for (const CellResult& result : results) {
    if (result.numbers.is_null()) continue;
    NamedText axes;
    for (const auto& axis : result.cell.axes)
      if (axis.first != except) axes.push_back(axis);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& other) { return other.axes == axes; });
    if (group == groups.end()) {
      Group fresh;
      fresh.axes = axes;
      for (const auto& [name, value] : axes) {
        const auto label = result.cell.settings.find("label");
        if (name == "data") {
          fresh.data = value;
        } else if (name == "row" && label != result.cell.settings.end()) {
          fresh.label += (fresh.label.empty() ? "" : ", ") + label->second;
        } else {
          const bool bare = std::isdigit(static_cast<unsigned char>(value[0])) || value == "true" ||
                            value == "false";  // says nothing without its name
          fresh.label += str(fresh.label.empty() ? "" : ", ", bare ? name + " " : "", value);
        }
      }
      group = groups.insert(groups.end(), fresh);
    }
    group->runs.push_back(&result);
  }
  return groups;
}

std::string setting(const Figure& figure, const std::string& name, const std::string& otherwise) {
  const auto found = figure.settings.find(name);
  return found == figure.settings.end() ? otherwise : found->second;
}

// The JSON of a run's file; null if there is none.
Json run_json(const CellResult& run, const char* file) {
  const std::string path = run.directory + "/" + file;
  if (!file_exists(path)) return nullptr;
  return Json::parse(read_file(path), nullptr, false);
}

// Means over runs, by position; runs of different length are cut to the shortest.
Series mean_series(const std::string& name, const std::vector<Curve>& curves) {
  Series series;
  series.name = name;
  std::size_t length = curves.empty() ? 0 : curves.front().size();
  for (const Curve& curve : curves) length = std::min(length, curve.size());
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> values;
    for (const Curve& curve : curves) values.push_back(curve[i].second);
    const Spread s = spread(values);
    series.x.push_back(curves.front()[i].first);
    series.y.push_back(s.mean);
    series.deviation.push_back(s.deviation);
  }
  return series;
}

Curve history(const CellResult& run, const std::string& key) {
  Curve curve;
  std::istringstream lines(file_exists(RunFiles(run.directory).metrics())
                               ? read_file(RunFiles(run.directory).metrics())
                               : "");
  std::string line;
  while (std::getline(lines, line)) {
    const Json values = Json::parse(line, nullptr, false);
    if (values.is_object() && values.contains(key) && values[key].is_number())
      curve.emplace_back(values.value("epoch", 0.0), values[key].get<double>());
  }
  return curve;
}

Curve spectrum(const CellResult& run, const std::string& of) {
  Curve curve;
  const Json diagnosis = run_json(run, "diagnosis.json");
  const auto at = Json::json_pointer("/spectra/" + of + "/centred");
  if (!diagnosis.is_object() || !diagnosis.contains(at)) return curve;
  for (const Json& value : diagnosis[at])
    curve.emplace_back(static_cast<double>(curve.size() + 1), value.get<double>());
  return curve;
}

// Per dimension unless the paper's form (zeros up to a common width) is asked for.
Curve entropy(const CellResult& run, const std::string& of, bool padded) {
  Curve curve;
  const Json diagnosis = run_json(run, "diagnosis.json");
  const auto at = Json::json_pointer("/entropy/" + std::string(padded ? "padded" : of));
  if (!diagnosis.is_object() || !diagnosis.contains(at) || !diagnosis[at].is_object()) return curve;
  const Json& entry = diagnosis[at];
  const Json& components = diagnosis["entropy"]["components"];
  const double width = padded ? 1 : entry.value("width", 1.0);
  for (std::size_t i = 0; i < entry["nats"].size() && i < components.size(); ++i)
    if (entry["nats"][i].is_number())
      curve.emplace_back(components[i].get<double>(), entry["nats"][i].get<double>() / width);
  return curve;
}

std::vector<std::string> data_of(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups)
    if (!std::count(names.begin(), names.end(), group.data)) names.push_back(group.data);
  return names;
}

// A chart for each data set and part of `y`; a line for each setting.
std::vector<Chart> curve_charts(const Figure& figure, const std::vector<CellResult>& results,
                                const std::string& x_label, const std::string& y_label,
                                const std::function<Curve(const CellResult&)>& curve) {
  const std::vector<Group> groups = make_groups(results, "");
  std::vector<Chart> charts;
  for (const std::string& data : data_of(groups)) {
    Chart chart;
    chart.title = data;
    chart.x_label = x_label;
    chart.y_label = y_label;
    for (const Group& group : groups) {
      if (group.data != data) continue;
      std::vector<Curve> curves;
      for (const CellResult* run : group.runs) curves.push_back(curve(*run));
      Series series = mean_series(group.label, curves);
      if (!series.x.empty()) chart.series.push_back(std::move(series));
    }
    const std::string log = setting(figure, "log", "");
    chart.log_x = log.find('x') != std::string::npos;
    chart.log_y = log.find('y') != std::string::npos;
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

// Numbers of the table against the axis x.
std::vector<Chart> score_charts(const Figure& figure, const std::vector<CellResult>& results) {
  const std::string x = setting(figure, "x", "codes");
  const std::vector<Group> groups = make_groups(results, x);
  std::vector<Chart> charts;
  for (const std::string& data : data_of(groups)) {
    for (const std::string& part : split(setting(figure, "y", "ami"), ',')) {
      Chart chart;
      chart.title = data;
      chart.x_label = x;
      const std::string log = setting(figure, "log", "");
      chart.log_x = log.find('x') != std::string::npos;
      chart.log_y = log.find('y') != std::string::npos;
      for (const Group& group : groups) {
        if (group.data != data) continue;
        for (const std::string& column : words(part)) {
          std::map<double, std::vector<double>> points;  // by x, the values of the seeds
          for (const CellResult* run : group.runs) {
            const auto at = std::find_if(run->cell.axes.begin(), run->cell.axes.end(),
                                         [&](const auto& axis) { return axis.first == x; });
            const auto number = run->numbers.find(column);
            if (at == run->cell.axes.end() || number == run->numbers.end() || !number->is_number())
              continue;
            points[std::atof(at->second.c_str())].push_back(number->get<double>());
          }
          Series series;
          series.name = column_heading(column) + (group.label.empty() ? "" : ", " + group.label);
          for (const auto& [value, values] : points) {
            const Spread s = spread(values);
            series.x.push_back(value);
            series.y.push_back(s.mean);
            series.deviation.push_back(s.deviation);
          }
          if (!series.x.empty()) chart.series.push_back(std::move(series));
        }
      }
      if (!chart.series.empty()) charts.push_back(std::move(chart));
    }
  }
  return charts;
}

Drawing draw_charts(const std::vector<Chart>& charts) {
  if (charts.empty()) return {};
  double width = 0, height = 280;
  for (const Chart& chart : charts) {
    width = std::max(width, 340 + legend_width(chart));
    height = std::max(height, 90 + 15 * static_cast<double>(chart.series.size()));
  }
  const std::size_t columns = std::min<std::size_t>(3, charts.size());
  const std::size_t rows = (charts.size() + columns - 1) / columns;
  Svg svg(width * static_cast<double>(columns), height * static_cast<double>(rows));
  for (std::size_t i = 0; i < charts.size(); ++i)
    draw_chart(svg, width * static_cast<double>(i % columns),
               height * static_cast<double>(i / columns), width, height, charts[i]);
  return {svg.str(), charts_csv(charts)};
}

// A square heat map of diagnosis.json's `key`, from -largest to +largest; its rows go to `csv`.
bool draw_matrix(Svg& svg, double x, double y, double size, const CellResult& run, const char* key,
                 std::string& csv) {
  const Json diagnosis = run_json(run, "diagnosis.json");
  if (!diagnosis.is_object() || !diagnosis.contains(key) || !diagnosis[key].is_object())
    return false;
  const Json& rows = diagnosis[key]["values"];
  std::vector<float> values;
  for (const Json& row : rows) {
    csv += str(run.cell.name, ",", key);
    for (const Json& value : row) {
      values.push_back(value.get<float>());
      csv += str(",", values.back());
    }
    csv += '\n';
  }
  if (values.empty()) return false;
  float largest = 1e-12f;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  const auto n = static_cast<std::int64_t>(rows.size());
  svg.heat_map(x, y, size, size, values, n, static_cast<std::int64_t>(values.size()) / n, -largest,
               largest);
  return true;
}

bool draw_map(Svg& svg, double x, double y, double size, const CellResult& run, std::string& csv) {
  const Json gallery = run_json(run, "gallery.json");
  const auto at = Json::json_pointer("/map/tsne");
  if (!gallery.is_object() || !gallery.contains(at) || gallery[at].empty()) return false;
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const Json& point : gallery[at]) {
    for (int i = 0; i < 2; ++i) {
      low[i] = std::min(low[i], point[i].get<double>());
      high[i] = std::max(high[i], point[i].get<double>());
    }
  }
  const Json& labels = gallery["map"]["label"];
  for (std::size_t i = 0; i < gallery[at].size(); ++i) {
    const Json& point = gallery[at][i];
    const int label = i < labels.size() ? labels[i].get<int>() : -1;
    const auto place = [&](int k) {
      return size * (point[k].get<double>() - low[k]) / std::max(high[k] - low[k], 1e-12);
    };
    svg.circle(x + place(0), y + size - place(1), 1.3,
               label < 0 ? "#bbb" : series_colour(static_cast<std::size_t>(label)));
    csv += str(run.cell.name, ",tsne,", point[0], ",", point[1], ",", label, "\n");
  }
  return true;
}

Drawing draw_matrices(const std::vector<CellResult>& results) {
  const std::vector<Group> groups = make_groups(results, "");
  const double size = 150, step = 170;
  Svg svg(std::max(540.0, 20 + step * static_cast<double>(groups.size())), 2 * step + 76);
  std::string csv;
  bool any = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double x = 20 + step * static_cast<double>(i);
    svg.text(x + size / 2, 20, str(groups[i].data, " ", groups[i].label), 11);
    any = draw_matrix(svg, x, 30, size, *groups[i].runs.front(), "covariance", csv) || any;
    any = draw_matrix(svg, x, 30 + step, size, *groups[i].runs.front(), "adjacency", csv) || any;
  }
  svg.text(20, 2 * step + 48,
           "top: covariance of the embeddings; bottom: adjacency of images, in the order of their "
           "codes",
           11, "start");
  svg.text(20, 2 * step + 64, "blue negative, white 0, red positive", 11, "start");
  return any ? Drawing{svg.str(), csv} : Drawing{};
}

Drawing draw_dynamics(const std::vector<CellResult>& results) {
  const std::vector<Group> groups = make_groups(results, "");
  if (groups.empty()) return {};
  const double height = 230;
  Svg svg(900, height * static_cast<double>(groups.size()));
  std::vector<Chart> charts;
  std::string csv;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CellResult& run = *groups[i].runs.front();
    Chart chart;
    chart.title = str(groups[i].data, " ", groups[i].label);
    chart.x_label = "epoch";
    for (const char* key : {"invariance", "prior"}) {
      Series series = mean_series(key, {history(run, key)});
      series.deviation.clear();
      if (!series.x.empty()) chart.series.push_back(std::move(series));
    }
    const double y = height * static_cast<double>(i);
    draw_chart(svg, 0, y, 460, height, chart);
    draw_matrix(svg, 480, y + 20, height - 40, run, "adjacency", csv);
    draw_map(svg, 690, y + 20, height - 40, run, csv);
    charts.push_back(std::move(chart));
  }
  return {svg.str(), charts_csv(charts) + csv};
}

}  // namespace

Drawing draw_figure(const Figure& figure, const std::vector<CellResult>& all) {
  std::vector<CellResult> results;
  const std::string only = setting(figure, "only", "");
  for (const CellResult& result : all)
    if (only.empty() || matches(parse_conditions(only, "figure " + figure.name), result.cell))
      results.push_back(result);
  const std::string kind = setting(figure, "kind", "");
  const std::string of = setting(figure, "of", "embedding");
  if (kind == "scores") return draw_charts(score_charts(figure, results));
  if (kind == "matrices") return draw_matrices(results);
  if (kind == "dynamics") return draw_dynamics(results);
  if (kind == "dictionary") {
    // The paper's own: i.i.d. signs.
    return {draw_dictionary_figure(DictionaryKind::kRademacher, 0),
            dictionary_figure_csv(DictionaryKind::kRademacher, 0)};
  }
  if (kind == "history") {
    std::vector<Chart> charts;
    for (const std::string& key : split(setting(figure, "y", "test_accuracy"), ',')) {
      std::string label = key;
      std::replace(label.begin(), label.end(), '_', ' ');
      for (Chart& chart : curve_charts(figure, results, "epoch", label,
                                       [&](const CellResult& run) { return history(run, key); }))
        charts.push_back(std::move(chart));
    }
    return draw_charts(charts);
  }
  if (kind == "spectrum")
    return draw_charts(curve_charts(figure, results, "number",
                                    "singular value of the covariance, " + of,
                                    [&](const CellResult& run) { return spectrum(run, of); }));
  if (kind == "entropy") {
    const bool padded = setting(figure, "padded", "false") == "true";
    return draw_charts(curve_charts(
        figure, results, "mixture components",
        padded ? "nats, padded as in the released code" : str("nats per dimension, ", of),
        [&](const CellResult& run) { return entropy(run, of, padded); }));
  }
  throw Error(str("figure ", figure.name, ": there is no kind '", kind,
                  "'; use scores, history, spectrum, entropy, matrices, dynamics or dictionary"));
}

}  // namespace cpl
