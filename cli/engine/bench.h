#pragma once
// How the parts of `cplearn bench` time, and where they put what they write.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/engine/commands.h"
#include "cplearn/base/clock.h"
#include "cplearn/base/error.h"
#include "cplearn/base/table.h"

namespace cpl::cli {

// Beside the best, which a result names itself: what to expect, and how far to trust it.
inline void put_timing(Json& result, const std::string& prefix, const Timing& timing) {
  result[prefix + "median_seconds"] = timing.median;
  result[prefix + "spread"] = timing.spread();
  result[prefix + "timed_steps"] = timing.steps;
}
inline std::string spread_text(const Timing& timing) {
  return str(readable(std::round(1000 * timing.spread()) / 10), " %");
}
constexpr const char* kClockNote =
    "Best and median of all repetitions; spread: between the quartiles, as a part of the median.\n";

// A new folder that disappears with it.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() : path(std::filesystem::temp_directory_path() / "cplearn-bench-XXXXXX") {
    CPL_CHECK(::mkdtemp(path.data()) != nullptr, "cannot make a folder for the bench, ", path,
              ": is TMPDIR a folder that can be written?");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace cpl::cli
