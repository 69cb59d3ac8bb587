#include "cplearn/train/monitor.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace cpl {
namespace {

Vitals healthy() { return {3.0, 200, 18, 0.3, 2.5, 0.6, 1000, 64}; }

TEST(Monitor, EffectiveRankOfKnownRows) {
  torch::manual_seed(1);
  EXPECT_NEAR(effective_rank(torch::ones({50, 8})), 1, 1e-9);
  const at::Tensor line = torch::randn({100, 1}).matmul(torch::randn({1, 8}));
  EXPECT_NEAR(effective_rank(line), 1, 1e-4);
  EXPECT_GT(effective_rank(torch::randn({4000, 8})), 7.9);
  const at::Tensor wide = torch::randn({20, 100});
  EXPECT_GT(effective_rank(wide), 15);
}

TEST(Monitor, SpreadWithinGroups) {
  torch::manual_seed(1);
  const at::Tensor group = torch::arange(200).remainder(10);
  const at::Tensor centres = torch::randn({10, 6}).index_select(0, group);
  EXPECT_LT(within_spread(centres, group), 1e-9);
  EXPECT_NEAR(within_spread(torch::randn({200, 6}), group), 1, 0.1);
  EXPECT_TRUE(std::isnan(within_spread(torch::randn({5, 6}), torch::arange(5))));
}

TEST(Monitor, EachCollapseIsNamed) {
  EXPECT_EQ(judge(healthy(), 1024, 0.5).verdict, "healthy");
  const auto verdict = [](auto change) {
    Vitals v = healthy();
    change(v);
    const Health health = judge(v, 1024, 0.5);
    EXPECT_TRUE(health.collapsed);
    EXPECT_FALSE(health.advice.empty());
    return health.verdict;
  };
  EXPECT_EQ(verdict([](Vitals& v) { v.information = v.agreement = 0; }),
            "collapsed: representation");
  EXPECT_EQ(verdict([](Vitals& v) { v.agreement = -1; }), "collapsed: representation");
  EXPECT_EQ(verdict([](Vitals& v) { v.rank = 1; }), "collapsed: dimensional");
  EXPECT_EQ(verdict([](Vitals& v) { v.spread = 0; }), "collapsed: intracluster");
  EXPECT_EQ(verdict([](Vitals& v) { v.usage = 1.2; }), "collapsed: cluster");
  EXPECT_EQ(verdict([](Vitals& v) { v.usage = 30; }), "collapsed: cluster");  // of 1,024
}

TEST(Monitor, ANetworkThatHasJustBegunIsNotJudgedByAgreementAndUsage) {
  Vitals v = healthy();
  v.agreement = -2;
  v.usage = 2;
  v.steps = 50;
  EXPECT_FALSE(judge(v, 1024, 0.5).collapsed);
}

TEST(Monitor, AdviceNamesOnlyWhatTheMethodHas) {
  Vitals v = healthy();
  v.usage = v.rank = 1;
  v.information = v.spread = 0;
  for (const std::string& words : judge(v, 1024, -1).advice) {
    EXPECT_EQ(words.find("beta"), std::string::npos) << words;
    EXPECT_EQ(words.find("--scale"), std::string::npos) << words;
  }
}

TEST(Monitor, WhatIsNotKnownIsNoCollapse) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(judge({nan, nan, nan, nan, nan, nan, 1000, nan}, 1024, 0.5).collapsed);
  EXPECT_FALSE(judge({nan, nan, 20, nan, nan, nan, 1000, 64}, 0, 0.5).collapsed);
}

}  // namespace
}  // namespace cpl
