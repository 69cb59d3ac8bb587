#pragma once
// How the parts of `cplearn bench` time.

#include <cmath>
#include <string>

#include "cli/engine/commands.h"
#include "cli/engine/temporary_folder.h"
#include "cplearn/base/clock.h"
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

}  // namespace cpl::cli
