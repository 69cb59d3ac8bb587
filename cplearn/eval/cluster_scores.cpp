#include "cplearn/eval/cluster_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cplearn/eval/assignment.h"

namespace cpl {
namespace {

// The same partition under other names.
bool identical(const Contingency& table) {
  return table.cells.size() == table.clusters.size() && table.cells.size() == table.classes.size();
}

double mean_entropy(const Contingency& table) {
  return 0.5 * (entropy_of_sizes(table.clusters) + entropy_of_sizes(table.classes));
}

// log 0!, ..., log n!; summed in extended precision, since E[MI] takes differences of them.
std::vector<double> log_factorials(std::int64_t n) {
  std::vector<double> table(n + 1, 0.0);
  long double sum = 0;
  for (std::int64_t k = 2; k <= n; ++k) table[k] = sum += std::log(static_cast<double>(k));
  return table;
}

std::map<std::int64_t, std::int64_t> count_equal(const std::vector<std::int64_t>& sizes) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t size : sizes) ++counts[size];
  return counts;
}

// One cluster and one class: nothing to tell apart, which scikit-learn calls perfect.
double normalized(double information, double mean_entropy) {
  return mean_entropy == 0 ? 1.0 : information / mean_entropy;
}

double adjusted(double information, double expected, const Contingency& table) {
  if (identical(table)) return 1.0;  // otherwise 0 / 0 when every point is alone
  const double epsilon = std::numeric_limits<double>::epsilon();
  const double room = mean_entropy(table) - expected;
  return (information - expected) / (room < 0 ? std::min(room, -epsilon) : std::max(room, epsilon));
}

}  // namespace

double mutual_information(const Contingency& table) {
  const auto n = static_cast<double>(table.points);
  double sum = 0;
  for (const auto& cell : table.cells) {
    const auto count = static_cast<double>(cell.count);
    sum += count / n *
           (std::log(count) + std::log(n) -
            std::log(static_cast<double>(table.clusters[cell.cluster])) -
            std::log(static_cast<double>(table.classes[cell.klass])));
  }
  return sum <= std::numeric_limits<double>::epsilon() ? 0.0 : sum;
}

double expected_mutual_information(const Contingency& table) {
  const std::int64_t points = table.points;
  if (table.clusters.size() == 1 || table.classes.size() == 1) return 0.0;
  const std::vector<double> factorial = log_factorials(points);
  const auto n = static_cast<double>(points);
  double total = 0;
  for (const auto& [a, clusters] : count_equal(table.clusters)) {
    for (const auto& [b, classes] : count_equal(table.classes)) {
      // A cluster of a points and a class of b share m of them with probability
      // C(b, m) C(n - b, a - m) / C(n, a).
      const double constant = factorial[a] + factorial[b] + factorial[points - a] +
                              factorial[points - b] - factorial[points];
      const double independent = std::log(n / (static_cast<double>(a) * static_cast<double>(b)));
      double sum = 0;
      for (std::int64_t m = std::max<std::int64_t>(1, a + b - points); m <= std::min(a, b); ++m) {
        const double log_probability = constant - factorial[m] - factorial[a - m] -
                                       factorial[b - m] - factorial[points - a - b + m];
        const auto count = static_cast<double>(m);
        sum += count / n * (std::log(count) + independent) * std::exp(log_probability);
      }
      total += sum * static_cast<double>(clusters) * static_cast<double>(classes);
    }
  }
  return total;
}

double normalized_mutual_information(const Contingency& table) {
  return normalized(mutual_information(table), mean_entropy(table));
}

double chance_of_normalized_mutual_information(const Contingency& table) {
  return normalized(expected_mutual_information(table), mean_entropy(table));
}

double adjusted_mutual_information(const Contingency& table) {
  return adjusted(mutual_information(table), expected_mutual_information(table), table);
}

double adjusted_rand_index(const Contingency& table) {
  // Numbers of ordered pairs; doubles hold n^2 exactly up to 94 million points.
  const auto squares = [](const auto& items, const auto& size) {
    double sum = 0;
    for (const auto& item : items) {
      const auto value = static_cast<double>(size(item));
      sum += value * value;
    }
    return sum;
  };
  const auto itself = [](std::int64_t size) { return size; };
  const auto n = static_cast<double>(table.points);
  const double same_both =
      squares(table.cells, [](const Contingency::Cell& cell) { return cell.count; });
  const double same_cluster = squares(table.clusters, itself);
  const double same_class = squares(table.classes, itself);
  const double agree = same_both - n, cluster_only = same_cluster - same_both,
               class_only = same_class - same_both;
  const double neither = n * n - same_cluster - same_class + same_both;
  if (cluster_only == 0 && class_only == 0) return 1.0;
  return 2.0 * (agree * neither - cluster_only * class_only) /
         ((agree + class_only) * (class_only + neither) +
          (agree + cluster_only) * (cluster_only + neither));
}

double purity(const Contingency& table) {
  std::vector<std::int64_t> largest(table.clusters.size(), 0);
  for (const auto& cell : table.cells)
    largest[cell.cluster] = std::max(largest[cell.cluster], cell.count);
  std::int64_t sum = 0;
  for (const std::int64_t count : largest) sum += count;
  return static_cast<double>(sum) / static_cast<double>(table.points);
}

double hungarian_accuracy(const Contingency& table) {
  const auto rows = static_cast<std::int64_t>(table.classes.size());
  const auto columns = static_cast<std::int64_t>(table.clusters.size());
  std::vector<double> together(rows * columns, 0.0);
  for (const auto& cell : table.cells)
    together[cell.klass * columns + cell.cluster] = static_cast<double>(cell.count);
  const std::vector<std::int64_t> cluster_of = best_assignment(together, rows, columns);
  double sum = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    if (cluster_of[i] >= 0) sum += together[i * columns + cluster_of[i]];
  return sum / static_cast<double>(table.points);
}

ClusterScores cluster_scores(const Labels& clusters, const Labels& classes) {
  const Contingency table = contingency(clusters, classes);
  const double information = mutual_information(table);
  const double expected = expected_mutual_information(table), entropy = mean_entropy(table);
  ClusterScores scores;
  scores.nmi = normalized(information, entropy);
  scores.nmi_chance = normalized(expected, entropy);
  scores.ami = adjusted(information, expected, table);
  scores.ari = adjusted_rand_index(table);
  scores.purity = purity(table);
  scores.accuracy = hungarian_accuracy(table);
  scores.clusters_used = static_cast<std::int64_t>(table.clusters.size());
  scores.classes = static_cast<std::int64_t>(table.classes.size());
  scores.points = table.points;
  return scores;
}

}  // namespace cpl
