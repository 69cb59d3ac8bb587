#pragma once
// Clustering scores against class labels. NMI alone misleads: it rises with the number of clusters
// by chance (16,384 random clusters on CIFAR-10's 10,000 test images score 0.35). So its chance
// level and the corrected scores stand beside it.

#include "cplearn/eval/contingency.h"

namespace cpl {

struct ClusterScores {
  double nmi;         // mutual information / mean of the two entropies, as in the paper
  double nmi_chance;  // the exact mean of NMI over all random assignments with these cluster sizes
  double ami;         // NMI corrected for chance: 0 for random, 1 for perfect
  double ari;         // adjusted Rand index, over pairs of points: 0 for random, 1 for perfect
  double purity;      // share of points in their cluster's commonest class; 1 for singletons
  double accuracy;    // share of points when each class gets at most one cluster (Hungarian)
  std::int64_t clusters_used;  // clusters with at least one point
  std::int64_t classes;
  std::int64_t points;
};

ClusterScores cluster_scores(const Labels& clusters, const Labels& classes);

// The scores one by one; equal to scikit-learn's, including its conventions for one cluster.
double mutual_information(const Contingency& table);  // nats
// Over all assignments of points to clusters of these sizes (hypergeometric; Vinh, Epps, Bailey,
// JMLR 2010). Equal sizes are summed once: at most sqrt(2 n) distinct ones on each side.
double expected_mutual_information(const Contingency& table);
double normalized_mutual_information(const Contingency& table);
double chance_of_normalized_mutual_information(const Contingency& table);
double adjusted_mutual_information(const Contingency& table);
double adjusted_rand_index(const Contingency& table);
double purity(const Contingency& table);
double hungarian_accuracy(const Contingency& table);

}  // namespace cpl
