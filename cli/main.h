#pragma once
// What main() was given.

namespace cpl::cli {

char** arguments_of_process();  // argv, which ends with a null

}  // namespace cpl::cli
