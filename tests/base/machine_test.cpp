#include "cplearn/base/machine.h"

#include <gtest/gtest.h>

#include "tests/restored.h"

namespace cpl {
namespace {

TEST(Machine, ThreadsAreThoseWantedOrOpenMpsOrAllCores) {
  const Restored openmp("OMP_NUM_THREADS");
  EXPECT_GE(core_count(), 1);
  EXPECT_EQ(thread_count(0), core_count());
  EXPECT_EQ(thread_count(3), 3);
  for (const char* three : {"3", " 3", "3,2"}) {
    ::setenv("OMP_NUM_THREADS", three, 1);
    EXPECT_EQ(thread_count(0), 3) << three;
    EXPECT_EQ(thread_count(2), 2) << three;
  }
  for (const char* none : {"", "0", "-1", "many", "99999999999999999999"}) {
    ::setenv("OMP_NUM_THREADS", none, 1);
    EXPECT_EQ(thread_count(0), core_count()) << none;
  }
}

}  // namespace
}  // namespace cpl
