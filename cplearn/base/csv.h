#pragma once
#include <string>

namespace cpl {
// A field of a CSV file (RFC 4180): in quotes where it contains a comma, a quote or a line break.
std::string csv_field(const std::string& text);
}  // namespace cpl
