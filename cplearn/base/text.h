#pragma once
// Small work on text that people wrote, or will read.

#include <cstddef>
#include <string>
#include <vector>

namespace cpl {

std::string trim(const std::string& text);  // without blanks at both ends

// The parts between the marks, trimmed; empty ones as well.
std::vector<std::string> split(const std::string& text, char mark);
// The parts between blanks, however many.
std::vector<std::string> words(const std::string& text);

std::string joined(const std::vector<std::string>& names);  // "a, b, c"

std::size_t letter_count(const std::string& text);  // of UTF-8

// Text from a file, for a terminal: line breaks and tabs stay, other control characters, which
// could move the cursor, hide lines or rename the window, and bytes that are no UTF-8 become '?'.
std::string printable(const std::string& text);

}  // namespace cpl
