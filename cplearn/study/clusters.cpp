#include "cplearn/study/clusters.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cplearn/base/error.h"

namespace cpl {

std::vector<ImageCluster> describe_clusters(const at::Tensor& x, const Labels& clusters,
                                            const Labels& labels) {
  CPL_CHECK(x.dim() == 2 && x.size(0) == static_cast<std::int64_t>(clusters.size()) &&
                clusters.size() == labels.size(),
            "clusters need one number and one label per row of ", x.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor points = x.to(at::kCPU, at::kFloat);
  const double scale =
      std::sqrt((points - points.mean(0)).square().sum(1).mean().item<double>()) + 1e-30;
  std::map<std::int64_t, std::vector<std::int64_t>> members;
  for (std::size_t i = 0; i < clusters.size(); ++i)
    members[clusters[i]].push_back(static_cast<std::int64_t>(i));

  std::vector<ImageCluster> result;
  for (const auto& [id, rows] : members) {
    const at::Tensor own = points.index_select(0, torch::tensor(rows, at::kLong));
    const at::Tensor squares = (own - own.mean(0)).square().sum(1);
    const at::Tensor order = squares.argsort();
    ImageCluster cluster{id, {}, std::sqrt(squares.mean().item<double>()) / scale, -1, 0};
    std::map<std::int64_t, std::int64_t> counts;
    std::int64_t labelled = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      cluster.rows.push_back(rows[order[static_cast<std::int64_t>(i)].item<std::int64_t>()]);
      if (labels[rows[i]] < 0) continue;
      ++counts[labels[rows[i]]];
      ++labelled;
    }
    for (const auto& [label, count] : counts) {
      const double share = static_cast<double>(count) / static_cast<double>(labelled);
      if (share <= cluster.purity) continue;
      cluster.label = label;
      cluster.purity = share;
    }
    result.push_back(std::move(cluster));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.rows.size() > b.rows.size(); });
  return result;
}

}  // namespace cpl
