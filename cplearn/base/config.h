#pragma once
// Options as text: config files (a flat TOML file with the names of the command line) and what
// differs between two sets of settings. Works for every struct with visit(), see base/options.h.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cplearn/base/options.h"

namespace cpl {

struct OptionText {
  std::string name;
  std::string value;
  std::string help;
  bool quoted;  // text, which TOML puts in quotes
};

// Shortest decimal that reads back as the same number.
std::string number_text(double value);

// Throws cpl::Error, naming the option.
double parse_number(const std::string& name, const std::string& text, double minimum,
                    double maximum, bool whole);
std::uint64_t parse_unsigned(const std::string& name, const std::string& text);
bool parse_bool(const std::string& name, const std::string& text);

// TOML with the help as comments.
std::string config_text(const std::vector<OptionText>& options);

// Names and values of a flat TOML file, the names with '-' for '_'. `source` is what errors call
// it.
std::map<std::string, std::string> parse_config(const std::string& text, const std::string& source);

// A table of the options whose values differ, empty if none do.
std::string differences(const std::vector<OptionText>& before,
                        const std::vector<OptionText>& after);

namespace detail {

constexpr double kInfinity = 1e308;

class ListVisitor {
 public:
  explicit ListVisitor(std::vector<OptionText>& list) : list_(list) {}

  template <class T, class... Range>
  void operator()(const std::string& name, T& member, const std::string& help, const Range&...) {
    if constexpr (std::is_floating_point_v<T>) {
      list_.push_back({name, number_text(member), help, false});
    } else {
      list_.push_back({name, option_text(member), help, std::is_same_v<T, std::string>});
    }
  }
  template <class Enum>
  void operator()(const std::string& name, Enum& member, const std::string& help,
                  const Names<Enum>& names) {
    list_.push_back({name, name_of(names, member), help, true});
  }

 private:
  std::vector<OptionText>& list_;
};

// Gives the option `name` the value in `text`.
class SetVisitor {
 public:
  SetVisitor(const std::string& name, const std::string& text) : name_(name), text_(text) {}
  bool found() const { return found_; }

  template <class T>
  void operator()(const std::string& name, T& member, const std::string& help) {
    (*this)(name, member, help, Between{-kInfinity, kInfinity});
  }
  template <class T>
  void operator()(const std::string& name, T& member, const std::string& help, AtLeast range) {
    (*this)(name, member, help, Between{range.minimum, kInfinity});
  }
  template <class T>
  void operator()(const std::string& name, T& member, const std::string&, Between range) {
    if (!matches(name)) return;
    if constexpr (std::is_same_v<T, std::string>) {
      member = text_;
    } else if constexpr (std::is_same_v<T, bool>) {
      member = parse_bool(name, text_);
    } else if constexpr (std::is_floating_point_v<T>) {
      member = static_cast<T>(parse_number(name, text_, range.minimum, range.maximum, false));
    } else if constexpr (std::is_unsigned_v<T>) {  // a seed: 64 bits do not fit a double
      member = static_cast<T>(parse_unsigned(name, text_));
    } else {
      member = static_cast<T>(parse_number(name, text_, range.minimum, range.maximum, true));
    }
  }
  template <class Enum>
  void operator()(const std::string& name, Enum& member, const std::string&,
                  const Names<Enum>& names) {
    if (!matches(name)) return;
    std::string known;
    for (const auto& [candidate, value] : names) {
      if (candidate == text_) {
        member = value;
        return;
      }
      known += (known.empty() ? "" : ", ") + candidate;
    }
    throw Error(str(name, " must be one of ", known, ", got '", text_, "'"));
  }

 private:
  bool matches(const std::string& name) {
    const bool same = name == name_;
    found_ = found_ || same;
    return same;
  }

  std::string name_, text_;
  bool found_ = false;
};

}  // namespace detail

template <class Options>
std::vector<OptionText> list_options(Options options) {
  std::vector<OptionText> list;
  options.visit(detail::ListVisitor(list));
  return list;
}

// False if there is no option of that name; throws cpl::Error if it cannot have that value.
template <class Options>
bool set_option(Options& options, const std::string& name, const std::string& text) {
  detail::SetVisitor visitor(name, text);
  options.visit(visitor);
  return visitor.found();
}

// An unknown name is an error that says which one is near.
[[noreturn]] void unknown_option(const std::string& name, const std::string& source,
                                 const std::vector<OptionText>& known);

}  // namespace cpl
