#include "cplearn/base/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "cplearn/base/table.h"
#include "cplearn/base/text.h"

namespace cpl {
namespace {

constexpr double kExact = 9007199254740992;  // whole numbers below it are exact in double

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

// A value as options read it. Whole numbers are written out: 1e3 is as good a seed as 1000.
std::string value_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  const auto* number = node.as_floating_point();
  CPL_CHECK(number != nullptr, where,
            ": tables and lists are not used here; write 'name = value' lines");
  const double value = number->get();
  return value == std::floor(value) && std::abs(value) < kExact
             ? std::to_string(static_cast<std::int64_t>(value))
             : number_text(value);
}

// What toml++ says is for people who know TOML; most errors are text without quotes.
[[noreturn]] void refuse(const toml::parse_error& error, const std::string& text,
                         const std::string& source) {
  const std::uint32_t number = error.source().begin.line;
  std::istringstream lines(text);
  std::string line;
  for (std::uint32_t i = 0; i < number && std::getline(lines, line); ++i) {
  }
  throw Error(str(source, ", line ", number, ": '", trim(line), "' is not TOML: ",
                  error.description(), ". Lines are 'name = value', with text in \"quotes\""));
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

std::uint64_t parse_unsigned(const std::string& name, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, value);
      read.ec == std::errc() && read.ptr == end)
    return value;
  return static_cast<std::uint64_t>(parse_number(name, text, 0, kExact, true));  // 1e3
}

bool parse_bool(const std::string& name, const std::string& text) {
  CPL_CHECK(text == "true" || text == "false", name, " must be true or false, got '", text, "'");
  return text == "true";
}

std::string config_text(const std::vector<OptionText>& options) {
  std::string text;
  for (const OptionText& option : options) {
    // TOML's whole numbers end at 2^63; a seed may have 20 digits.
    const bool quoted = option.quoted || option.value.size() >= 19;
    text += str(option.name, " = ", quoted ? quote(option.value) : option.value, "  # ",
                option.help, "\n");
  }
  return text;
}

std::map<std::string, std::string> parse_config(const std::string& text,
                                                const std::string& source) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    refuse(error, text, source);
  }
  std::map<std::string, std::string> result;
  for (const auto& [name, node] : table) {
    const std::string where = str(source, ", line ", node.source().begin.line);
    std::string key(name.str());
    std::replace(key.begin(), key.end(), '_', '-');
    CPL_CHECK(result.emplace(key, value_text(node, where)).second, where, ": ", key,
              " is given twice");
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
