#pragma once
// Other programs, called without a shell.

#include <string>
#include <vector>

namespace cpl {

// Runs words[0], found on the PATH, with the rest as its arguments, and waits for it. Standard
// output is returned when `output` is not null, and goes to ours otherwise; standard error goes to
// ours. Returns its exit code, or 128 + the signal that ended it. Error when it is not installed.
int run_program(const std::vector<std::string>& words, std::string* output = nullptr);

}  // namespace cpl
