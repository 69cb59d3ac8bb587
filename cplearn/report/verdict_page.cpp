#include "cplearn/report/verdict_page.h"

#include "cplearn/base/error.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

// Kinds differ in colour and in a letter, so that they can be told apart without colours.
constexpr const char* kStyle =
    "body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 "
    "1rem; color: #222; background: #fff }\n"
    "h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }\n"
    "table { border-collapse: collapse } th { text-align: left; font-weight: 600 }\n"
    "td, th { padding: .15rem .9rem .15rem 0; border-bottom: 1px solid #8883; white-space: nowrap "
    "}\n"
    "td.n { text-align: right; font-variant-numeric: tabular-nums }\n"
    "b { display: inline-block; width: 1.25rem; height: 1.25rem; margin-right: 2px; border-radius: "
    "3px; color: #fff; font: 600 .8rem/1.25rem system-ui, sans-serif; text-align: center; "
    "vertical-align: middle }\n"
    ".k0 { background: #2b7a4b } .k1 { background: #9a6410 } .k2 { background: #2f5f93 }\n"
    ".k3 { background: #ab3128 } .k4 { background: #5b2a6d } .k5 { background: #9994 }\n"
    "@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } }\n";

std::string square(const VerdictPage& page, const VerdictPage::Mark& mark) {
  const std::string letter = page.kinds.at(static_cast<std::size_t>(mark.kind)).substr(0, 1);
  return str("<b class=\"k", mark.kind, "\" title=\"", escaped(mark.words), "\">",
             mark.kind == 0 ? "" : escaped(letter), "</b>");
}

std::string counts_table(const VerdictPage& page) {
  std::string html = "<table>\n<tr><th>method</th>";
  for (std::size_t k = 0; k < page.kinds.size(); ++k)
    html +=
        str("<th>", square(page, {static_cast<int>(k), ""}), " ", escaped(page.kinds[k]), "</th>");
  html += "</tr>\n";
  for (std::size_t c = 0; c < page.columns.size(); ++c) {
    html += str("<tr><td>", escaped(page.columns[c]), "</td>");
    for (const int count : page.counts[c]) html += str("<td class=\"n\">", count, "</td>");
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string runs_table(const VerdictPage& page) {
  std::string html = "<table>\n<tr><th>setting</th>";
  for (const std::string& column : page.columns) html += str("<th>", escaped(column), "</th>");
  html += "</tr>\n";
  for (const VerdictPage::Row& row : page.rows) {
    html += str("<tr><td>", escaped(row.name), "</td>");
    for (const auto& marks : row.marks) {
      html += "<td>";
      for (const VerdictPage::Mark& mark : marks) html += square(page, mark);
      html += "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::string verdict_page_html(const VerdictPage& page) {
  return str(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
      escaped(page.title), "</title>\n<style>\n", kStyle, "</style></head><body>\n<h1>",
      escaped(page.title), "</h1>\n<p>", escaped(page.words), "</p>\n", counts_table(page),
      "<h2>Every run</h2>\n<p>A square is a run; point at it to read its verdict.</p>\n",
      runs_table(page), "</body></html>\n");
}

}  // namespace cpl
