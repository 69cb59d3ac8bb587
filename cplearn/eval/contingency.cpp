#include "cplearn/eval/contingency.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cplearn/base/error.h"

namespace cpl {

Labels compact_labels(const Labels& labels, Labels* values) {
  Labels known = labels;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  Labels compact(labels.size());
  std::transform(labels.begin(), labels.end(), compact.begin(), [&](std::int64_t label) {
    return std::lower_bound(known.begin(), known.end(), label) - known.begin();
  });
  if (values != nullptr) *values = std::move(known);
  return compact;
}

Contingency contingency(const Labels& clusters, const Labels& classes) {
  CPL_CHECK(clusters.size() == classes.size(), "a clustering of ", clusters.size(),
            " points cannot be scored against ", classes.size(),
            " class labels; pass one of each per point");
  CPL_CHECK(!clusters.empty(), "clustering scores need at least 1 point, got none");
  Labels cluster_values, class_values;
  const Labels rows = compact_labels(clusters, &cluster_values);
  const Labels columns = compact_labels(classes, &class_values);

  Contingency table;
  table.points = static_cast<std::int64_t>(rows.size());
  table.clusters.assign(cluster_values.size(), 0);
  table.classes.assign(class_values.size(), 0);
  const auto width = static_cast<std::int64_t>(class_values.size());
  Labels keys(rows.size());  // (cluster, class) of each point as one number
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++table.clusters[rows[i]];
    ++table.classes[columns[i]];
    keys[i] = rows[i] * width + columns[i];
  }
  std::sort(keys.begin(), keys.end());
  for (auto first = keys.begin(); first != keys.end();) {
    const auto last = std::upper_bound(first, keys.end(), *first);
    table.cells.push_back({*first / width, *first % width, last - first});
    first = last;
  }
  return table;
}

double entropy_of_sizes(const std::vector<std::int64_t>& sizes) {
  const auto total =
      static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  double sum = 0;
  for (const std::int64_t size : sizes) {
    const double share = static_cast<double>(size) / total;
    sum -= share * std::log(share);
  }
  return std::max(sum, 0.0);  // one cluster gives -0 or its rounding
}

}  // namespace cpl
