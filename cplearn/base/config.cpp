#include "cplearn/base/config.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "cplearn/base/table.h"
#include "cplearn/base/text.h"

namespace cpl {
namespace {

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

// A TOML value without its quotes; `where` is for errors.
std::string parse_value(const std::string& text, const std::string& where) {
  const char first = text.empty() ? '\0' : text[0];
  std::string value, rest;
  if (first == '"' || first == '\'') {
    std::size_t i = 1;
    for (; i < text.size() && text[i] != first; ++i) {
      if (first == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
      value += text[i];
    }
    CPL_CHECK(i < text.size(), where, ": the text has no closing quote");
    rest = trim(text.substr(i + 1));
  } else {
    const auto end = text.find('#');
    value = trim(text.substr(0, end));
    CPL_CHECK(!value.empty(), where, ": there is no value after '='");
    value.erase(std::remove(value.begin(), value.end(), '_'), value.end());  // 10_000
    rest = "";
  }
  CPL_CHECK(rest.empty() || rest[0] == '#', where, ": '", rest, "' after the value");
  return value;
}

}  // namespace

std::string number_text(double value) {
  char text[40];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

double parse_number(const std::string& name, const std::string& text, double minimum,
                    double maximum, bool whole) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  CPL_CHECK(!text.empty() && *end == '\0' && std::isfinite(value), name, " must be a number, got '",
            text, "'");
  CPL_CHECK(!whole || value == std::floor(value), name, " must be a whole number, got ", text);
  CPL_CHECK(value >= minimum && value <= maximum, name, " must be ",
            maximum < detail::kInfinity ? str("between ", minimum, " and ", maximum)
                                        : str("at least ", minimum),
            ", got ", text);
  return value;
}

bool parse_bool(const std::string& name, const std::string& text) {
  CPL_CHECK(text == "true" || text == "false", name, " must be true or false, got '", text, "'");
  return text == "true";
}

std::string config_text(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    text += str(option.name, " = ", option.quoted ? quote(option.value) : option.value, "  # ",
                option.help, "\n");
  }
  return text;
}

std::map<std::string, std::string> parse_config(const std::string& text,
                                                const std::string& source) {
  std::map<std::string, std::string> result;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string where = str(source, ", line ", number);
    CPL_CHECK(line[0] != '[', where, ": tables such as ", line,
              " are not used here; write 'name = value' lines");
    const auto equals = line.find('=');
    CPL_CHECK(equals != std::string::npos, where, ": expected 'name = value', got '", line, "'");
    std::string key = trim(line.substr(0, equals));
    std::replace(key.begin(), key.end(), '_', '-');
    CPL_CHECK(!key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
                                  std::string::npos,
              where, ": the name of a setting has letters, digits and - only");
    CPL_CHECK(result.emplace(key, parse_value(trim(line.substr(equals + 1)), where)).second, where,
              ": ", key, " is given twice");
  }
  return result;
}

std::string differences(const std::vector<OptionText>& before,
                        const std::vector<OptionText>& after) {
  TextTable table({"setting", "this run", "now asked for"});
  bool any = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].value == after[i].value) continue;
    table.add({before[i].name, before[i].value, after[i].value});
    any = true;
  }
  return any ? table.str() : "";
}

void unknown_option(const std::string& name, const std::string& source,
                    const std::vector<OptionText>& known) {
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const OptionText& option : known) names.push_back(option.name);
  const std::string near = nearest_name(name, names);
  throw Error(str(
      source, ": there is no setting '", name, "'",
      near.empty() ? "; 'cplearn train --help' lists them" : str("; did you mean '", near, "'?")));
}

}  // namespace cpl
