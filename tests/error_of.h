#pragma once
// What the library says when it refuses something.

#include <functional>
#include <string>

#include "cplearn/base/error.h"

namespace cpl {

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace cpl
