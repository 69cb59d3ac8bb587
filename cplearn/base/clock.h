#pragma once
// The clock of every benchmark. It times only steps that happened.

#include <chrono>
#include <type_traits>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl {

// Of a number of steps, in seconds each. Best: noise on a shared machine only ever adds. Median and
// quartiles: what to expect of the machine as it is.
struct Timing {
  double best = 0, median = 0, quarter = 0, three_quarters = 0;
  int steps = 0;

  // Between the quartiles, as a part of the median.
  double spread() const { return (three_quarters - quarter) / median; }
};
Timing timing_of(std::vector<double> seconds);

class StepClock {
 public:
  // Times `step` again and again: at least `least` times, and so many seconds in all. A step that
  // returns false did nothing; a clock that went on would report the speed of that.
  template <class Step>
  void run(int least, double seconds, Step&& step) {
    const auto start = Clock::now();
    for (int i = 0; i < least || since(start) < seconds; ++i) {
      const auto begin = Clock::now();
      check(do_step(step));
      seconds_.push_back(since(begin));
    }
  }
  // Half a second: an idle machine takes a while to run at full speed.
  template <class Step>
  void run(int least, Step&& step) {
    run(least, 0.5, step);
  }
  // Without the clock: first allocations, and what was made ahead.
  template <class Step>
  void warm_up(int steps, Step&& step) const {
    for (int i = 0; i < steps; ++i) check(do_step(step));
  }

  // Of each step.
  const std::vector<double>& seconds() const { return seconds_; }
  Timing timing() const { return timing_of(seconds_); }
  // Least mean of `window` steps in a row: one step alone may profit from what was made ahead.
  double best_window(int window) const;

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  template <class Step>
  static bool do_step(Step& step) {
    if constexpr (std::is_void_v<decltype(step())>) {
      step();
      return true;
    } else {
      return step();
    }
  }
  void check(bool happened) const {
    CPL_CHECK(happened, "the run ended after ", seconds_.size(),
              " timed steps, before the clock did: its numbers would be of steps that never "
              "happened. Make the run longer");
  }

  std::vector<double> seconds_;
};

}  // namespace cpl
