#pragma once
// An option is declared once, in its struct's visit(): name, member, help, and what it may be.
// Visitors then parse it, print help, save it, compare it; nobody writes its name a second time.
//
//   struct Options {
//     double beta = 0.5;
//     template <class V> void visit(V&& v) { v("beta", beta, "weight of the invariance",
//     AtLeast{0}); }
//   };

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl {

namespace detail {
template <class Visitor, class = void>
struct HasTopics : std::false_type {};
template <class Visitor>
struct HasTopics<Visitor, std::void_t<decltype(std::declval<Visitor&>().begin_topic(""))>>
    : std::true_type {};
}  // namespace detail

// What a number may be.
struct AtLeast {
  double minimum;
};
struct Between {
  double minimum, maximum;
};

// The options that follow belong to this topic of the help. Visitors without topics do not notice.
template <class Visitor>
void begin_topic(Visitor& visitor, const std::string& name) {
  if constexpr (detail::HasTopics<Visitor>::value) visitor.begin_topic(name);
}

// The names of an enumeration's values, in the order in which help lists them.
template <class Enum>
using Names = std::vector<std::pair<std::string, Enum>>;

template <class Enum>
std::string name_of(const Names<Enum>& names, Enum value) {
  for (const auto& [name, candidate] : names)
    if (candidate == value) return name;
  throw Error("a value without a name; this is a bug");
}

// "a, b, c" for the rows of a table; each has a `name`.
template <class Table>
std::string names_in(const Table& table) {
  std::string text;
  for (const auto& row : table) text += str(text.empty() ? "" : ", ", row.name);
  return text;
}

// The row of that name. Throws cpl::Error, listing the names; `what` is what a row is.
template <class Row>
const Row& find_row(const std::vector<Row>& table, const char* what, const std::string& name) {
  for (const Row& row : table)
    if (row.name == name) return row;
  throw Error(str("there is no ", what, " ", name, ": choose one of ", names_in(table)));
}

// Any option's value as text, as config files and tables show it.
template <class T>
std::string option_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    return str(value);
  }
}

// The candidate with the fewest edits from `word`, or "" if none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace cpl
