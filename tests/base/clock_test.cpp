#include "cplearn/base/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/error_of.h"

namespace cpl {
namespace {

TEST(StepClock, ARunThatEndsEarlyIsAnError) {
  int left = 7;
  const auto step = [&left] { return left-- > 0; };
  StepClock clock;
  clock.warm_up(2, step);
  const std::string error = error_of([&] { clock.run(10, 0, step); });
  EXPECT_NE(error.find("ended after 5 timed steps"), std::string::npos) << error;
  // The time that it must last as well: the steps would be enough.
  left = 7;
  EXPECT_NE(error_of([&] { StepClock().run(1, 0.2, step); }).find("ended after 7"),
            std::string::npos);
  EXPECT_NE(error_of([&] { StepClock().warm_up(1, step); }).find("ended"), std::string::npos);
  EXPECT_NE(error_of([] { StepClock().timing(); }).find("no step"), std::string::npos);
}

TEST(StepClock, RunsAsManyStepsAndAsLongAsItMust) {
  int steps = 0;
  StepClock clock;
  clock.run(3, 0, [&] { ++steps; });
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(clock.timing().steps, 3);
  const auto start = std::chrono::steady_clock::now();
  clock.run(1, 0.02, [] {});
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  EXPECT_GT(clock.timing().steps, 3);  // goes on where it was
  clock.run(1, 0, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  EXPECT_GE(clock.seconds().back(), 2e-3);
}

TEST(StepClock, KnowsBestMedianAndSpread) {
  const Timing five = timing_of({9, 3, 6, 3, 12});
  EXPECT_EQ(five.best, 3);
  EXPECT_EQ(five.quarter, 3);
  EXPECT_EQ(five.median, 6);
  EXPECT_EQ(five.three_quarters, 9);
  EXPECT_EQ(five.spread(), 1);
  EXPECT_EQ(five.steps, 5);
  EXPECT_EQ(timing_of({2, 1}).median, 1.5);
  EXPECT_EQ(timing_of({2}).spread(), 0);

  StepClock clock;
  for (const int milliseconds : {4, 2, 2, 4})
    clock.run(1, 0, [&] { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); });
  const std::vector<double>& s = clock.seconds();
  EXPECT_DOUBLE_EQ(clock.best_window(1), clock.timing().best);
  EXPECT_DOUBLE_EQ(clock.best_window(3), std::min(s[0] + s[1] + s[2], s[1] + s[2] + s[3]) / 3);
  EXPECT_NE(error_of([&] { clock.best_window(5); }).find("5"), std::string::npos);
}

}  // namespace
}  // namespace cpl
