#include "cplearn/report/cluster_page.h"

#include "cplearn/base/error.h"
#include "cplearn/report/svg.h"

namespace cpl {

std::string cluster_page_html(const ClusterPage& page) {
  std::string html = str(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
      escaped(page.title),
      "</title>\n<style>\n"
      "body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: "
      "0 "
      "1rem; color: #222; background: #fff }\n"
      "h1 { font-size: 1.4rem } h2 { font-size: 1rem; margin: 1.2rem 0 .3rem; font-weight: 600 }\n"
      "i { display: inline-block; width: ",
      page.tile, "px; height: ", page.tile, "px; margin: 1px; background-image: url(", page.sprite,
      ") }\n"
      "@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } }\n"
      "</style></head><body>\n<h1>",
      escaped(page.title), "</h1>\n<p>", escaped(page.words), "</p>\n");
  for (const ClusterPage::Cluster& cluster : page.clusters) {
    html += str("<h2>", escaped(cluster.heading), "</h2>\n<div>");
    for (const int tile : cluster.tiles)
      html += str("<i style=\"background-position:-", tile % page.columns * page.tile, "px -",
                  tile / page.columns * page.tile, "px\"></i>");
    html += "</div>\n";
  }
  return html + "</body></html>\n";
}

}  // namespace cpl
