#include "cplearn/report/figures.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>

#include "cplearn/base/csv.h"
#include "cplearn/base/file.h"
#include "cplearn/report/chart.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

// What stands at `path` ("spectra", "embedding", ...), or null: files may have any shape.
const Json& at(const Json& root, const std::vector<std::string>& path) {
  static const Json nothing;
  const Json* node = &root;
  for (const std::string& name : path) {
    if (!node->is_object() || !node->contains(name)) return nothing;
    node = &(*node)[name];
  }
  return *node;
}

std::vector<double> numbers(const Json& list) {
  std::vector<double> result;
  if (!list.is_array()) return result;
  for (const Json& value : list)
    result.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  return result;
}

class Writer {
 public:
  explicit Writer(std::string directory) : directory_(std::move(directory)) {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    CPL_CHECK(!error, "cannot make ", directory_, ": ", error.message(),
              "; choose another --figures");
  }

  void write(std::string name, const std::string& svg, const std::string& csv) {
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_') c = '_';
    for (const auto& [ending, text] : {std::pair(".svg", svg), std::pair(".csv", csv)}) {
      files_.push_back(str(directory_, "/", name, ending));
      write_file(files_.back(), text);
    }
  }
  void write(const std::string& name, Chart chart) {
    chart.series.erase(std::remove_if(chart.series.begin(), chart.series.end(),
                                      [](const Series& s) { return s.x.empty(); }),
                       chart.series.end());
    if (chart.series.empty()) return;
    const double width = 630 + legend_width(chart);
    Svg svg(width, 420);
    draw_chart(svg, 0, 0, width, 420, chart);
    write(name, svg.str(), charts_csv({chart}));
  }

  std::vector<std::string> take() { return std::move(files_); }

 private:
  std::string directory_;
  std::vector<std::string> files_;
};

void write_curves(const std::vector<RunRecord>& runs, Writer& writer) {
  std::vector<std::string> order;
  std::map<std::string, Chart> charts;
  for (const RunRecord& run : runs) {
    for (const auto& [name, curve] : curves(run.metrics)) {
      if (!charts.count(name)) order.push_back(name);
      Chart& chart = charts[name];
      chart.title = name;
      chart.x_label = "step";
      chart.series.push_back({run.path, {}, {}, {}});
      for (const auto& [step, value] : curve) {
        chart.series.back().x.push_back(step);
        chart.series.back().y.push_back(value);
      }
    }
  }
  for (const std::string& name : order)
    if (name != "epoch") writer.write("curve-" + name, charts[name]);
}

// `y` against `x`, or against 1, 2, ... where there is no x.
Series series_of(const std::string& name, std::vector<double> x, std::vector<double> y) {
  if (x.empty())
    for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<double>(i + 1));
  const std::size_t count = std::min(x.size(), y.size());
  x.resize(count);
  y.resize(count);
  return {name, std::move(x), std::move(y), {}};
}

void write_heat(const std::string& name, const std::string& title, const Json& rows,
                Writer& writer) {
  if (!rows.is_array() || rows.empty()) return;
  std::vector<float> values;
  std::string csv;
  const std::size_t columns = rows[0].size();
  float highest = 0;
  for (const Json& row : rows) {
    const std::vector<double> line = numbers(row);
    if (line.size() != columns || columns == 0) return;
    for (std::size_t j = 0; j < columns; ++j) {
      values.push_back(std::isfinite(line[j]) ? static_cast<float>(line[j]) : 0);
      highest = std::max(highest, std::abs(values.back()));
      csv += (j > 0 ? "," : "") + number_text(static_cast<double>(values.back()));
    }
    csv += "\n";
  }
  if (highest == 0) highest = 1;
  Svg svg(440, 480);
  svg.text(20, 24, title, 14, "start");
  svg.heat_map(20, 36, 400, 400, values, static_cast<std::int64_t>(rows.size()),
               static_cast<std::int64_t>(columns), -highest, highest);
  svg.text(20, 460, str("from -", highest, " (blue) over 0 (white) to ", highest, " (red)"), 11,
           "start");
  writer.write(name, svg.str(), csv);
}

void write_map(const std::string& name, const std::string& title, const Json& gallery,
               const std::string& layout, Writer& writer) {
  const Json& places = at(gallery, {"map", layout});
  if (!places.is_array() || places.empty()) return;
  const std::vector<double> labels = numbers(at(gallery, {"map", "label"}));
  const std::vector<double> codes = numbers(at(gallery, {"map", "code"}));
  const Json& files = at(gallery, {"map", "file"});
  std::vector<double> xs, ys;
  for (const Json& place : places) {
    const std::vector<double> pair = numbers(place);
    if (pair.size() != 2) return;
    xs.push_back(pair[0]);
    ys.push_back(pair[1]);
  }
  const auto [x0, x1] = std::minmax_element(xs.begin(), xs.end());
  const auto [y0, y1] = std::minmax_element(ys.begin(), ys.end());
  const double width = std::max(*x1 - *x0, 1e-12), height = std::max(*y1 - *y0, 1e-12);
  Svg svg(640, 600);
  svg.text(20, 24, title, 14, "start");
  std::string csv = "x,y,label,code,file\n";
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double label = i < labels.size() ? labels[i] : -1;
    svg.circle(20 + 600 * (xs[i] - *x0) / width, 580 - 540 * (ys[i] - *y0) / height, 2.5,
               label >= 0 ? series_colour(static_cast<std::size_t>(label)) : "#8d939c");
    const bool named = files.is_array() && i < files.size() && files[i].is_string();
    csv += str(number_text(xs[i]), ",", number_text(ys[i]), ",", label, ",",
               i < codes.size() ? codes[i] : -1, ",",
               named ? csv_field(files[i].get<std::string>()) : "", "\n");
  }
  writer.write(name, svg.str(), csv);
}

}  // namespace

std::vector<std::string> write_figures(const std::vector<RunRecord>& runs,
                                       const std::string& directory) {
  Writer writer(directory);
  write_curves(runs, writer);
  for (const std::string kind : {"representation", "embedding", "padded"}) {
    Chart spectrum{"Singular values: " + kind, "index", "", true, true, {}};
    Chart entropy{"Entropy: " + kind, "components of the mixture", "nats", false, false, {}};
    for (const RunRecord& run : runs) {
      const Json& d = run.diagnosis;
      for (const std::string which : {"centred", "uncentred"})
        spectrum.series.push_back(
            series_of(run.path + ", " + which, {}, numbers(at(d, {"spectra", kind, which}))));
      entropy.series.push_back(series_of(run.path, numbers(at(d, {"entropy", "components"})),
                                         numbers(at(d, {"entropy", kind, "nats"}))));
    }
    writer.write("spectrum-" + kind, spectrum);
    writer.write("entropy-" + kind, entropy);
  }
  Chart usage{"Images of each code", "codes, most used first", "", false, false, {}};
  for (const RunRecord& run : runs)
    usage.series.push_back(
        series_of(run.path, {}, numbers(at(run.diagnosis, {"usage", "counts"}))));
  writer.write("usage", usage);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string suffix = runs.size() > 1 ? str("-", i + 1) : "";
    const RunRecord& run = runs[i];
    write_heat("covariance" + suffix, "Covariance of " + run.path,
               at(run.diagnosis, {"covariance", "values"}), writer);
    write_heat("adjacency" + suffix, "Adjacency of " + run.path,
               at(run.diagnosis, {"adjacency", "values"}), writer);
    for (const std::string layout : {"tsne", "pca"})
      write_map(layout + suffix, str("Map (", layout, ") of ", run.path), run.gallery, layout,
                writer);
  }
  return writer.take();
}

}  // namespace cpl
