#pragma once
// How the parts of `cplearn bench` time.

#include <algorithm>
#include <chrono>

#include "cli/engine/commands.h"

namespace cpl::cli {

// Best of several, in seconds: noise on a shared machine only ever adds. At least half a second in
// all: an idle machine takes a while to run at full speed.
template <class Work>
double best_seconds(int repeats, Work work) {
  double best = 1e300;
  const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (int i = 0; i < repeats || std::chrono::steady_clock::now() < enough; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace cpl::cli
