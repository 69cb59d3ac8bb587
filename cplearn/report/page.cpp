#include "cplearn/report/page.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "cplearn/base/error.h"
#include "cplearn/base/version.h"
#include "cplearn/report/page_files.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

constexpr std::size_t kMostLines = 4000;  // of metrics in a page; a plot has fewer pixels

// Every so many lines, and all that carry the monitor's words.
std::string thinned(const std::string& metrics) {
  const auto count = static_cast<std::size_t>(std::count(metrics.begin(), metrics.end(), '\n'));
  if (count <= kMostLines) return metrics;
  const std::size_t every = (count + kMostLines - 1) / kMostLines;
  std::string result;
  std::istringstream lines(metrics);
  std::string line;
  for (std::size_t i = 0; std::getline(lines, line); ++i) {
    if (i % every == 0 || i + 1 == count || line.find("\"advice\"") != std::string::npos)
      result += line + "\n";
  }
  return result;
}

// A sprite is shown only if it is a picture in base64 and nothing else.
bool is_picture(const std::string& address) {
  const auto comma = address.find(',');
  if (comma == std::string::npos) return false;
  const std::string type = address.substr(0, comma);
  return (type == "data:image/jpeg;base64" || type == "data:image/png;base64") &&
         std::all_of(
             address.begin() + static_cast<std::ptrdiff_t>(comma) + 1, address.end(),
             [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '/' || c == '='; });
}

Json checked_gallery(Json gallery) {
  if (!gallery.is_object()) return nullptr;
  const auto sprite = gallery.find("sprite");
  if (sprite == gallery.end()) return gallery;
  const bool fine = sprite->is_object() && sprite->contains("data") &&
                    (*sprite)["data"].is_string() &&
                    is_picture((*sprite)["data"].get_ref<const std::string&>());
  if (!fine) gallery.erase("sprite");
  return gallery;
}

// index.html with its {{names}} replaced, in one pass: what is put in is not looked at again.
std::string filled(const std::map<std::string, std::string>& values) {
  const std::string& text = page_files::index_html();
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find("{{"); open != std::string::npos; open = text.find("{{", at)) {
    const std::size_t close = text.find("}}", open);
    const std::string name = text.substr(open + 2, close - open - 2);
    const auto value = values.find(name);
    CPL_CHECK(value != values.end(), "index.html asks for '", name, "'; this is a bug");
    result.append(text, at, open - at).append(value->second);
    at = close + 2;
  }
  return result.append(text, at);
}

std::string page(const std::string& title, const Json& data) {
  return filled({{"title", escaped(title)},
                 {"style", page_files::style_css()},
                 {"d3_licence", page_files::d3_licence_txt()},
                 {"d3", page_files::d3_min_js()},
                 {"plots", page_files::plots_js()},
                 {"pieces", page_files::pieces_js()},
                 {"pictures", page_files::pictures_js()},
                 {"page", page_files::page_js()},
                 {"live", page_files::live_js()},
                 {"data", json_in_html(data)}});
}

}  // namespace

std::string json_in_html(const Json& value) {
  // Outside of strings JSON has none of these, so that escaping them changes no value.
  std::string out;
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Json page_run(const RunRecord& run) {
  Json settings = Json::array();
  for (const Setting& s : run.settings) {
    settings.push_back(
        {{"name", s.name}, {"value", s.value}, {"standard", s.standard}, {"help", s.help}});
  }
  return {{"path", run.path},           {"word", shell_word(run.path)},
          {"command", run.command},     {"settings", settings},
          {"summary", run.summary},     {"eval", run.eval},
          {"diagnosis", run.diagnosis}, {"gallery", checked_gallery(run.gallery)},
          {"problems", run.problems},   {"metrics", thinned(run.metrics)}};
}

std::string report_page(const std::vector<RunRecord>& runs) {
  Json list = Json::array();
  std::string title;
  for (const RunRecord& run : runs) {
    list.push_back(page_run(run));
    title += (title.empty() ? "" : ", ") + run.path;
  }
  return page(title + " - cplearn", {{"version", version()}, {"live", false}, {"runs", list}});
}

std::string live_page() {
  return page("cplearn", {{"version", version()}, {"live", true}, {"runs", Json::array()}});
}

}  // namespace cpl
