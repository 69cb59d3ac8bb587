#pragma once
// How often each cluster meets each class: what every clustering score is computed from.

#include <cstdint>
#include <vector>

namespace cpl {

// One label per point. Any integers: only equality counts.
using Labels = std::vector<std::int64_t>;

// Sparse, so that 16,384 clusters cost no more than the points. Clusters and classes are numbered
// by increasing label; labels that no point has are left out.
struct Contingency {
  struct Cell {
    std::int64_t cluster, klass, count;
  };
  std::int64_t points = 0;
  std::vector<std::int64_t> clusters;  // points in each cluster, all > 0
  std::vector<std::int64_t> classes;   // points of each class, all > 0
  std::vector<Cell> cells;             // sorted, all counts > 0
};

Contingency contingency(const Labels& clusters, const Labels& classes);

// The same labels numbered 0, 1, ... by increasing value; `values` receives what they were.
Labels compact_labels(const Labels& labels, Labels* values = nullptr);

// -sum_i s_i/n log(s_i/n) in nats, for positive sizes with the sum n.
double entropy_of_sizes(const std::vector<std::int64_t>& sizes);

}  // namespace cpl
