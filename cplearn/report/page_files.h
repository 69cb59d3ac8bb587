#pragma once
// The files in page/ and the plotting library as constants; the build writes their definitions
// (cmake/embed.cmake).

#include <string>

namespace cpl::page_files {

const std::string& index_html();
const std::string& style_css();
const std::string& plots_js();
const std::string& pieces_js();
const std::string& pictures_js();
const std::string& page_js();
const std::string& live_js();
const std::string& d3_min_js();
const std::string& d3_licence_txt();

}  // namespace cpl::page_files
