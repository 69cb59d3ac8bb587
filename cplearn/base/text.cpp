#include "cplearn/base/text.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <utility>

namespace cpl {

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, mark)) parts.push_back(trim(part));
  if (!text.empty() && text.back() == mark) parts.emplace_back();
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  std::string word;
  while (stream >> word) result.push_back(word);
  return result;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::size_t letter_count(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// The letter at i: its bytes and its number in Unicode; 0 bytes if it is no UTF-8.
static std::pair<std::size_t, std::uint32_t> letter_at(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::uint32_t first = byte(i);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first >> 5 == 0b110 ? 2 : first >> 4 == 0b1110 ? 3 : 4;
  std::uint32_t letter = first & (0x7Fu >> bytes);
  for (std::size_t k = i + 1; k < i + bytes; ++k) {
    if (k >= text.size() || byte(k) >> 6 != 0b10) return {0, 0};
    letter = letter << 6 | (byte(k) & 0x3Fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = letter >= 0xD800 && letter < 0xE000;
  const bool valid = first >= 0xC0 && first < 0xF8 && letter >= kLeast[bytes] && !surrogate;
  return {valid && letter <= 0x10FFFF ? bytes : 0, letter};
}

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto [bytes, letter] = letter_at(text, i);
    const bool control =
        (letter < ' ' && letter != '\n' && letter != '\t') || (letter >= 0x7F && letter < 0xA0);
    result += bytes == 0 || control ? "?" : text.substr(i, bytes);
    i += std::max<std::size_t>(bytes, 1);
  }
  return result;
}

}  // namespace cpl
