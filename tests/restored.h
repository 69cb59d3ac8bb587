#pragma once
// The environment in tests.

#include <cstdlib>
#include <string>

namespace cpl {

// Unsets a variable; when the test is over, it is as it was.
class Restored {
 public:
  explicit Restored(const char* name) : name_(name), was_set_(std::getenv(name) != nullptr) {
    if (was_set_) value_ = std::getenv(name);
    ::unsetenv(name);
  }
  ~Restored() { was_set_ ? ::setenv(name_, value_.c_str(), 1) : ::unsetenv(name_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  const char* name_;
  bool was_set_;
  std::string value_;
};

}  // namespace cpl
