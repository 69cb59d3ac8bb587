#include "cplearn/base/clock.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cpl {

Timing timing_of(std::vector<double> seconds) {
  CPL_CHECK(!seconds.empty(), "the clock has timed no step: run() comes first");
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&seconds](double part) {
    const double place = part * static_cast<double>(seconds.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, seconds.size() - 1);
    return seconds[below] +
           (place - static_cast<double>(below)) * (seconds[above] - seconds[below]);
  };
  return {seconds.front(), quantile(0.5), quantile(0.25), quantile(0.75),
          static_cast<int>(seconds.size())};
}

double StepClock::best_window(int window) const {
  const auto steps = static_cast<std::ptrdiff_t>(seconds_.size());
  CPL_CHECK(window >= 1 && window <= steps, "a window of ", window, " steps needs as many, got ",
            steps);
  double best = INFINITY;
  for (auto first = seconds_.begin(); first + window <= seconds_.end(); ++first)
    best = std::min(best, std::accumulate(first, first + window, 0.0) / window);
  return best;
}

}  // namespace cpl
