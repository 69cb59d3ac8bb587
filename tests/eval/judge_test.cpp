#include "cplearn/eval/judge.h"

#include <gtest/gtest.h>

#include <functional>

namespace cpl {
namespace {

// As a training that went well has them.
VitalSigns healthy() {
  VitalSigns s;
  s.images = 512;
  s.deviation = 0.7;
  s.rank = 15;
  s.width = 64;
  s.found = 0.1;
  s.embedding_deviation = 0.99;
  s.embedding_rank = 13;
  s.embedding_width = 64;
  s.codes = 1024;
  s.used = 200;
  s.information = 1.2;
  s.agreement = 0.3;
  s.within = 0.2;
  return s;
}

VitalSigns untrained() {
  VitalSigns s = healthy();
  s.rank = 12;
  return s;
}

std::string summary(const std::function<void(VitalSigns&)>& change) {
  VitalSigns now = healthy();
  change(now);
  const VitalSigns before = untrained();
  return judge(now, &before, JudgeLimits()).summary();
}

TEST(Judge, NamesEachCollapse) {
  EXPECT_EQ(summary([](VitalSigns&) {}), "healthy");
  EXPECT_EQ(summary([](VitalSigns& s) { s.deviation = 1e-3; }), "collapsed: representation");
  // A batch norm hides that from the embeddings, and the other way round.
  EXPECT_EQ(summary([](VitalSigns& s) { s.embedding_deviation = 0; }), "collapsed: representation");
  EXPECT_EQ(summary([](VitalSigns& s) { s.information = 0.05; }), "collapsed: representation");
  EXPECT_EQ(summary([](VitalSigns& s) { s.rank = 2; }), "collapsed: dimensional");
  EXPECT_EQ(summary([](VitalSigns& s) { s.used = 4; }), "collapsed: cluster");
  EXPECT_EQ(summary([](VitalSigns& s) { s.within = 0; }), "collapsed: intracluster");
  EXPECT_EQ(summary([](VitalSigns& s) { s.rank = s.used = 1; }), "collapsed: dimensional, cluster");
}

TEST(Judge, DoubtsBeforeItCondemns) {
  const JudgeLimits limits;
  const VitalSigns before = untrained();
  VitalSigns now = healthy();
  now.rank = before.rank * (limits.rank_ratio.collapsed + limits.rank_ratio.warning) / 2;
  const Judgement near = judge(now, &before, JudgeLimits());
  EXPECT_EQ(near.verdict, Verdict::kWarning);
  EXPECT_EQ(near.summary(), "doubtful: dimensional");
  EXPECT_EQ(near.dimensional.threshold, limits.rank_ratio.collapsed);
}

TEST(Judge, RankIsHeldAgainstTheUntrainedNetworkWhereThatIsKnown) {
  VitalSigns now = healthy(), before = untrained();
  now.rank = 170;  // a ResNet-18 that has learnt something
  before.rank = 250;
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "healthy");
  now.rank = 5;
  before.rank = 40;
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "collapsed: dimensional");
  EXPECT_EQ(judge(now, nullptr, JudgeLimits()).summary(), "healthy");
  now.rank = 1.2;
  EXPECT_EQ(judge(now, nullptr, JudgeLimits()).summary(), "collapsed: dimensional");
}

TEST(Judge, AFewDirectionsCannotTellManyCodesApart) {
  VitalSigns now = healthy(), before = untrained();
  now.used = 12;
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "collapsed: cluster");
  before.rank = now.rank = 3;  // a network four channels wide
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "healthy");
  now.used = 4;
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "collapsed: cluster");
  // Directions that the training itself has lost are no excuse.
  before.rank = 12;
  now.used = 12;
  EXPECT_EQ(judge(now, &before, JudgeLimits()).summary(), "collapsed: dimensional, cluster");
}

TEST(Judge, WhatIsNotKnownIsNoCollapse) {
  EXPECT_EQ(judge({}, nullptr, JudgeLimits()).summary(), "unknown");
  VitalSigns embeddings;  // from another tool
  embeddings.images = 500;
  embeddings.deviation = 0.9;
  embeddings.rank = 20;
  embeddings.width = 64;
  const Judgement found = judge(embeddings, nullptr, JudgeLimits());
  EXPECT_EQ(found.summary(), "healthy");
  EXPECT_EQ(found.cluster.verdict, Verdict::kUnknown);
  EXPECT_EQ(found.intracluster.verdict, Verdict::kUnknown);
}

// Few codes can tell little about images: that has its own name.
TEST(Judge, FewCodesAreNotCalledUniformOnes) {
  EXPECT_EQ(summary([](VitalSigns& s) {
              s.used = 1.3;
              s.information = 0.1;
            }),
            "collapsed: cluster");
}

}  // namespace
}  // namespace cpl
