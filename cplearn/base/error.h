#pragma once
// What the library throws, and its only check macro.
// A message says what went wrong, what was found, what was expected, and what to do next.

#include <sstream>
#include <stdexcept>
#include <string>

namespace cpl {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Numbers that a training cannot go on with: NaN or infinity.
class NotFinite : public Error {
 public:
  using Error::Error;
};

// Joins values into one string: str("got ", 3, " rows").
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace cpl

// Throws cpl::Error with the joined message unless `condition` holds.
#define CPL_CHECK(condition, ...)                                  \
  do {                                                             \
    if (!(condition)) throw ::cpl::Error(::cpl::str(__VA_ARGS__)); \
  } while (false)
