#include "cplearn/eval/cluster_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/eval/assignment.h"
#include "tests/eval/golden.h"

namespace cpl {
namespace {

Labels random_labels(std::int64_t points, std::uint32_t kinds, std::uint64_t seed) {
  Random random(seed, Stream::kEval);
  Labels labels(points);
  for (auto& label : labels) label = random.below(kinds);
  return labels;
}

TEST(ClusterScores, EqualScikitLearn) {
  for (const auto& node : test::eval_golden().at("clusterings")) {
    SCOPED_TRACE(node.at("name").get<std::string>());
    const Labels clusters = node.at("clusters"), classes = node.at("classes");
    const Contingency table = contingency(clusters, classes);
    const ClusterScores scores = cluster_scores(clusters, classes);
    EXPECT_NEAR(mutual_information(table), node.at("mi"), 1e-12);
    EXPECT_NEAR(expected_mutual_information(table), node.at("emi"), 1e-11);
    EXPECT_NEAR(scores.nmi, node.at("nmi"), 1e-11);
    EXPECT_NEAR(scores.ami, node.at("ami"), 1e-11);
    EXPECT_NEAR(scores.ari, node.at("ari"), 1e-12);
    EXPECT_NEAR(scores.purity, node.at("purity"), 1e-15);
    EXPECT_NEAR(scores.accuracy, node.at("accuracy"), 1e-15);
    EXPECT_EQ(scores.nmi, normalized_mutual_information(table));
    EXPECT_EQ(scores.ami, adjusted_mutual_information(table));
    EXPECT_EQ(scores.nmi_chance, chance_of_normalized_mutual_information(table));
  }
}

TEST(ClusterScores, ChanceLevelIsTheMeanOverPermutations) {
  const Labels classes = random_labels(500, 10, 1);
  Labels clusters = random_labels(500, 200, 2);
  const double chance = cluster_scores(clusters, classes).nmi_chance;
  EXPECT_GT(chance, 0.3);
  Random random(3, Stream::kEval);
  double sum = 0;
  for (int i = 0; i < 200; ++i) {
    std::shuffle(clusters.begin(), clusters.end(), random);
    sum += normalized_mutual_information(contingency(clusters, classes));
  }
  EXPECT_NEAR(sum / 200, chance, 0.001);
}

TEST(ClusterScores, ChanceLevelsOfThePaperSettings) {  // trap 1: random assignment, 16384 codes
  const auto chance = [](std::int64_t points, std::uint32_t classes) {
    return cluster_scores(random_labels(points, 16384, 4), random_labels(points, classes, 5));
  };
  const ClusterScores cifar10 = chance(10000, 10), cifar100 = chance(10000, 100);
  EXPECT_NEAR(cifar10.nmi, 0.35, 0.01);
  EXPECT_NEAR(cifar100.nmi, 0.63, 0.01);
  EXPECT_NEAR(cifar10.nmi, cifar10.nmi_chance, 0.003);
  EXPECT_NEAR(cifar100.nmi, cifar100.nmi_chance, 0.003);
  for (const auto& scores : {cifar10, cifar100}) {
    EXPECT_NEAR(scores.ami, 0, 0.02);
    EXPECT_NEAR(scores.ari, 0, 0.002);
  }
}

TEST(ClusterScores, NamesAndOrderDoNotMatter) {
  const Labels classes = random_labels(300, 5, 6);
  Labels clusters = classes;
  for (std::size_t i = 0; i < clusters.size(); i += 3) clusters[i] = 7;
  const ClusterScores before = cluster_scores(clusters, classes);
  Labels renamed = clusters, order(300), shuffled_clusters, shuffled_classes;
  for (auto& label : renamed) label = 1000000007 * (label % 4) - label;
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), Random(8, Stream::kEval));
  for (const auto i : order) {
    shuffled_clusters.push_back(renamed[i]);
    shuffled_classes.push_back(classes[i]);
  }
  const ClusterScores after = cluster_scores(shuffled_clusters, shuffled_classes);
  EXPECT_NEAR(before.nmi, after.nmi, 1e-13);
  EXPECT_NEAR(before.ami, after.ami, 1e-13);
  EXPECT_NEAR(before.ari, after.ari, 1e-13);
  EXPECT_EQ(before.accuracy, after.accuracy);
  EXPECT_EQ(before.purity, after.purity);
  EXPECT_EQ(before.clusters_used, after.clusters_used);
}

TEST(ClusterScores, PerfectIsOneEvenWhenEveryPointIsAlone) {
  Labels alone(50);
  std::iota(alone.begin(), alone.end(), 0);
  for (const Labels& classes : {alone, random_labels(50, 4, 9), Labels(50, 3)}) {
    const ClusterScores scores = cluster_scores(classes, classes);
    EXPECT_NEAR(scores.nmi, 1, 1e-14);
    EXPECT_EQ(scores.ami, 1);
    EXPECT_EQ(scores.ari, 1);
    EXPECT_EQ(scores.accuracy, 1);
  }
}

TEST(ClusterScores, RefusesUnequalLengthsAndNothing) {
  EXPECT_THROW(cluster_scores({1, 2}, {1}), Error);
  EXPECT_THROW(cluster_scores({}, {}), Error);
}

double total(const std::vector<double>& gain, std::int64_t columns, const Labels& column_of) {
  double sum = 0;
  for (std::size_t i = 0; i < column_of.size(); ++i)
    if (column_of[i] >= 0) sum += gain[i * columns + column_of[i]];
  return sum;
}

TEST(Assignment, EqualsTryingAllPermutations) {
  Random random(10, Stream::kEval);
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = 1 + static_cast<int>(random.below(6)), columns = 1 + random.below(6);
    std::vector<double> gain(rows * columns);
    for (auto& x : gain)
      x = trial % 2 ? random.below(4) : random.normal();  // with and without ties
    const int larger = std::max(rows, columns);
    Labels order(larger);
    std::iota(order.begin(), order.end(), 0);
    double best = -1e300;
    do {
      Labels column_of(rows);
      for (int i = 0; i < rows; ++i) column_of[i] = order[i] < columns ? order[i] : -1;
      best = std::max(best, total(gain, columns, column_of));
    } while (std::next_permutation(order.begin(), order.end()));
    const Labels found = best_assignment(gain, rows, columns);
    ASSERT_NEAR(total(gain, columns, found), best, 1e-12) << rows << " x " << columns;
    Labels used;
    for (const auto j : found)
      if (j >= 0) used.push_back(j);
    std::sort(used.begin(), used.end());
    EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end());
    EXPECT_EQ(static_cast<int>(used.size()), std::min(rows, columns));
  }
}

}  // namespace
}  // namespace cpl
