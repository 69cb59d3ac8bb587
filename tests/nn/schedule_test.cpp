#include "cplearn/nn/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "tests/error_of.h"

namespace cpl {
namespace {

TEST(Schedule, WarmUpCosineFollowsTheFormula) {
  Schedule s;
  s.name = "cosine";
  s.base = 2.5e-4;
  s.warmup = 10;
  s.total = 110;
  check_schedule(s);
  EXPECT_DOUBLE_EQ(learning_rate(s, 0), 3e-5);
  EXPECT_DOUBLE_EQ(learning_rate(s, 4), 3e-5 + 4 * (2.5e-4 - 3e-5) / 9);
  EXPECT_DOUBLE_EQ(learning_rate(s, 9), 2.5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(s, 10), 2.5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(s, 35), 0.5 * 2.5e-4 * (1 + std::cos(M_PI * 25 / 100)));
  EXPECT_NEAR(learning_rate(s, 110), 0, 1e-18);
  EXPECT_NEAR(learning_rate(s, 200), 0, 1e-18);  // past the end it stays
}

TEST(Schedule, ConstantAndStep) {
  Schedule s;
  s.base = 0.1;
  EXPECT_EQ(learning_rate(s, 1000000), 0.1);
  s.warmup = 1;
  EXPECT_EQ(learning_rate(s, 0), 0.1);
  s = {};
  s.name = "step";
  s.base = 0.1;
  s.step_every = 30;
  EXPECT_DOUBLE_EQ(learning_rate(s, 29), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 30), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(s, 89), 0.001);
}

TEST(Schedule, NonsenseIsRefusedWithTheNextStep) {
  const auto message = [](const Schedule& s) { return error_of([&] { check_schedule(s); }); };
  Schedule s;
  EXPECT_NO_THROW(check_schedule(s));
  s.name = "cosinus";
  EXPECT_NE(message(s).find("cosine"), std::string::npos);
  s.name = "cosine";
  s.total = s.warmup = 5;
  EXPECT_NE(message(s).find("train longer"), std::string::npos);
  s.name = "step";
  EXPECT_NE(message(s).find("step_every"), std::string::npos);
}

}  // namespace
}  // namespace cpl
