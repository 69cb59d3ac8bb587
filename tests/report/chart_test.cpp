#include "cplearn/report/chart.h"

#include <gtest/gtest.h>

namespace cpl {
namespace {

TEST(Chart, TicksAreRoundAndInsideTheRange) {
  EXPECT_EQ(axis_ticks(0, 1, false).size(), 6u);  // 0, 0.2, ... 1
  for (const double tick : axis_ticks(-3.7, 11.2, false)) {
    EXPECT_GE(tick, -3.7);
    EXPECT_LE(tick, 11.2);
  }
  EXPECT_EQ(axis_ticks(5, 20000, true), (std::vector<double>{10, 100, 1000, 10000}));
}

TEST(Chart, DrawsEveryPointThatHasAPlace) {
  Chart chart;
  chart.log_x = chart.log_y = true;
  chart.series = {{"a <b>", {1, 10, 100}, {0.5, 0, 2}, {0.1, 0.1, 0.1}}};  // 0 has no logarithm
  Svg svg(400, 300);
  draw_chart(svg, 0, 0, 400, 300, chart);
  const std::string text = svg.str();
  std::size_t circles = 0;
  for (std::size_t at = text.find("<circle"); at != std::string::npos;
       at = text.find("<circle", at + 1))
    ++circles;
  EXPECT_EQ(circles, 2u);
  EXPECT_NE(text.find("a &lt;b&gt;"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  EXPECT_EQ(charts_csv({chart}),
            "chart,series,x,y,deviation\n,a <b>,1,0.5,0.1\n"
            ",a <b>,10,0,0.1\n,a <b>,100,2,0.1\n");
}

}  // namespace
}  // namespace cpl
