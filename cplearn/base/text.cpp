#include "cplearn/base/text.h"

#include <algorithm>
#include <sstream>

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

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == 0xC2 && next >= 0x80 && next < 0xA0) {  // UTF-8 of a control character over 127
      result += '?';
      ++i;
    } else {
      result += (c >= ' ' && c != 0x7F) || c == '\n' || c == '\t' ? text[i] : '?';
    }
  }
  return result;
}

}  // namespace cpl
