#include "cplearn/base/progress.h"

#include <gtest/gtest.h>

namespace cpl {
namespace {

TEST(Progress, LineFitsTheTerminal) {
  EXPECT_EQ(progress_line(0.5, 12.5, 125, "images", "loss 3.2", 100),
            "[###############...............]  50%  12.5 images/s  2 min 05 s left  loss 3.2");
  for (int columns : {1, 5, 20, 40, 80})
    EXPECT_LT(progress_line(0.5, 12.5, 125, "images", "loss 3.2", columns).size(),
              static_cast<std::size_t>(std::max(columns, 2)));
  EXPECT_EQ(progress_line(1, 0, 0, "images", "", 8), "100%");
}

}  // namespace
}  // namespace cpl
