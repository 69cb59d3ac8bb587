#include "cplearn/eval/kmeans.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "cplearn/base/error.h"
#include "cplearn/eval/column_means.h"
#include "cplearn/eval/kmeans_seeds.h"
#include "cplearn/nn/product.h"

namespace cpl {
namespace {

constexpr std::int64_t kMeansChunk = 256;  // rows per matrix product

// One restart. Distances are Euclidean (not squared) where bounds need the triangle inequality.
class Lloyd {
 public:
  Lloyd(const at::Tensor& points, const at::Tensor& norms, const std::vector<double>& weights,
        const std::vector<std::int64_t>& seeds)
      : n_(points.size(0)),
        d_(points.size(1)),
        k_(static_cast<std::int64_t>(seeds.size())),
        points_(points.data_ptr<float>()),
        norms_(norms.data_ptr<float>()),
        weights_(weights),
        centres_(points.index_select(0, torch::tensor(seeds)).contiguous()),
        labels_(n_, -1),
        upper_(n_, INFINITY),
        lower_(n_, 0),
        sums_(k_ * d_, 0),
        sizes_(k_, 0),
        moves_(k_, 0) {}

  int run(int max_iterations, double tolerance) {
    int iteration = 0;
    while (iteration < max_iterations) {
      ++iteration;
      const bool changed = assign();
      fill_empty_clusters();
      if (move_centres() <= tolerance || !changed) break;
    }
    std::fill(upper_.begin(), upper_.end(),
              INFINITY);  // so that all distances are exact at the end
    assign();
    return iteration;
  }

  double inertia() const {
    double sum = 0;
    for (std::int64_t i = 0; i < n_; ++i) sum += weights_[i] * upper_[i] * upper_[i];
    return sum;
  }
  const at::Tensor& centres() const { return centres_; }
  const Labels& labels() const { return labels_; }

 private:
  // Moves every point to its nearest centre. True if any changed.
  bool assign() {
    const at::Tensor transposed = centres_.t().contiguous();  // d x k
    const at::Tensor centre_norms = centres_.square().sum(1);
    const float* centre_norm = centre_norms.data_ptr<float>();
    const Labels before = labels_;
    at::parallel_for(0, n_, kMeansChunk, [&](std::int64_t first, std::int64_t last) {
      const at::NoGradGuard no_grad;
      std::vector<float> gathered(kMeansChunk * d_), product(kMeansChunk * k_);
      // Points whose nearest centre may have changed; products of few rows would be slow.
      std::vector<std::int64_t> active;
      for (std::int64_t i = first; i < last; ++i) {
        if (upper_[i] >= lower_[i]) active.push_back(i);
        const auto rows = static_cast<std::int64_t>(active.size());
        if (rows == 0 || (rows < kMeansChunk && i + 1 < last)) continue;
        float* source = const_cast<float*>(points_ + active[0] * d_);  // from_blob takes no const
        if (active.back() - active.front() >= rows) {
          source = gathered.data();
          for (std::int64_t r = 0; r < rows; ++r)
            std::memcpy(source + r * d_, points_ + active[r] * d_, d_ * sizeof(float));
        }
        at::Tensor out = torch::from_blob(product.data(), {rows, k_});
        product_out(out, torch::from_blob(source, {rows, d_}), transposed);
        for (std::int64_t r = 0; r < rows; ++r)
          settle(active[r], product.data() + r * k_, centre_norm);
        active.clear();
      }
    });
    std::vector<std::int64_t> changed;
    for (std::int64_t i = 0; i < n_; ++i)
      if (labels_[i] != before[i]) changed.push_back(i);
    update_sums(changed, before);
    return !changed.empty();
  }

  // Nearest and second nearest centre of point i from its products with all of them.
  void settle(std::int64_t i, const float* product, const float* centre_norm) {
    float nearest = INFINITY, second = INFINITY;
    std::int64_t label = 0;
    for (std::int64_t j = 0; j < k_; ++j) {
      const float distance = centre_norm[j] - 2 * product[j];  // + |x|^2
      if (distance < nearest) {
        second = nearest;
        nearest = distance;
        label = j;
      } else if (distance < second) {
        second = distance;
      }
    }
    labels_[i] = label;
    upper_[i] = std::sqrt(std::max(nearest + norms_[i], 0.0f));
    lower_[i] = std::sqrt(std::max(second + norms_[i], 0.0f));
  }

  // Only points that changed cluster touch the sums. In double, so that nothing drifts; columns in
  // parallel, so that the order of additions does not depend on the number of threads.
  void update_sums(const std::vector<std::int64_t>& changed, const Labels& before) {
    for (const std::int64_t i : changed) {
      sizes_[labels_[i]] += weights_[i];
      if (before[i] >= 0) sizes_[before[i]] -= weights_[i];
    }
    at::parallel_for(0, d_, 64, [&](std::int64_t first, std::int64_t last) {
      for (const std::int64_t i : changed) {
        const float* point = points_ + i * d_;
        double* gains = sums_.data() + labels_[i] * d_;
        double* loses = before[i] >= 0 ? sums_.data() + before[i] * d_ : nullptr;
        for (std::int64_t c = first; c < last; ++c) gains[c] += weights_[i] * point[c];
        if (loses != nullptr)
          for (std::int64_t c = first; c < last; ++c) loses[c] -= weights_[i] * point[c];
      }
    });
  }

  // An empty cluster takes the point farthest from its centre out of a cluster that has others.
  void fill_empty_clusters() {
    std::vector<std::int64_t> members(k_, 0);
    for (const std::int64_t label : labels_) ++members[label];
    for (std::int64_t j = 0; j < k_; ++j) {
      if (members[j] > 0) continue;
      std::int64_t farthest = -1;
      for (std::int64_t i = 0; i < n_; ++i)
        if (members[labels_[i]] > 1 && (farthest < 0 || upper_[i] > upper_[farthest])) farthest = i;
      if (farthest < 0) return;
      const Labels before = labels_;
      --members[labels_[farthest]];
      ++members[j];
      labels_[farthest] = j;
      upper_[farthest] = INFINITY;
      update_sums({farthest}, before);
    }
  }

  // Centres become means and the bounds follow. Returns the sum of squared moves.
  double move_centres() {
    float* centre = centres_.data_ptr<float>();
    double total = 0;
    for (std::int64_t j = 0; j < k_; ++j) {
      if (sizes_[j] <= 0) continue;
      double move = 0;
      for (std::int64_t c = 0; c < d_; ++c) {
        const auto mean = static_cast<float>(sums_[j * d_ + c] / sizes_[j]);
        const double step = mean - centre[j * d_ + c];
        move += step * step;
        centre[j * d_ + c] = mean;
      }
      total += move;
      moves_[j] = static_cast<float>(std::sqrt(move));
    }
    const std::int64_t fastest = std::max_element(moves_.begin(), moves_.end()) - moves_.begin();
    float runner_up = 0;
    for (std::int64_t j = 0; j < k_; ++j)
      if (j != fastest) runner_up = std::max(runner_up, moves_[j]);
    for (std::int64_t i = 0; i < n_; ++i) {
      upper_[i] += moves_[labels_[i]];
      lower_[i] -= labels_[i] == fastest ? runner_up : moves_[fastest];
    }
    return total;
  }

  const std::int64_t n_, d_, k_;
  const float* points_;
  const float* norms_;
  const std::vector<double>& weights_;
  at::Tensor centres_;  // k x d
  Labels labels_;
  std::vector<float> upper_, lower_;  // distance to the own centre is at most, to others at least
  std::vector<double> sums_, sizes_;  // of each cluster: weighted points (k x d), weights
  std::vector<float> moves_;          // of each centre in the last step
};

}  // namespace

KMeans kmeans(const at::Tensor& points, const KMeansOptions& options, const at::Tensor& weights) {
  CPL_CHECK(points.dim() == 2, "k-means needs points as n x d, got ", points.dim(), " dimensions");
  const std::int64_t n = points.size(0);
  CPL_CHECK(options.clusters >= 1 && options.clusters <= n, "k-means with ", options.clusters,
            " clusters needs at least as many points, got ", n, "; ask for fewer clusters");
  CPL_CHECK(options.restarts >= 1, "k-means needs at least 1 restart, got ", options.restarts);
  CPL_CHECK(!weights.defined() || (weights.dim() == 1 && weights.size(0) == n),
            "k-means needs one weight per point, ", n);
  const at::NoGradGuard no_grad;
  // Centred, because squared distances are differences of squares.
  at::Tensor x = points.to(at::kCPU, at::kFloat);
  const at::Tensor mean = column_means(x).to(at::kFloat);
  x = (x - mean).contiguous();
  const at::Tensor norms = x.square().sum(1);
  CPL_CHECK(norms.isfinite().all().item<bool>(),
            "k-means needs finite points, but some are NaN, infinite or too large");
  std::vector<double> weight(n, 1.0);
  if (weights.defined()) {
    const at::Tensor w = weights.to(at::kCPU, at::kDouble).contiguous();
    std::copy_n(w.data_ptr<double>(), n, weight.begin());
  }
  const double variance = norms.mean().item<double>() / static_cast<double>(x.size(1));

  KMeans best;
  best.inertia = INFINITY;
  for (const auto& seeds :
       kmeans_seeds(x, norms, weight, options.clusters, options.restarts, options.seed)) {
    Lloyd lloyd(x, norms, weight, seeds);
    const int iterations = lloyd.run(options.max_iterations, options.tolerance * variance);
    const double inertia = lloyd.inertia();
    if (inertia < best.inertia) best = {lloyd.centres(), lloyd.labels(), inertia, iterations};
  }
  best.centres = best.centres + mean;
  return best;
}

Labels merge_codes(const at::Tensor& points, const Labels& codes, KMeansOptions options) {
  CPL_CHECK(points.dim() == 2 && points.size(0) == static_cast<std::int64_t>(codes.size()),
            "merging codes needs one code per point, got ", codes.size(), " codes for ",
            points.dim() == 2 ? points.size(0) : 0, " points");
  Labels used;
  Labels merged = compact_labels(codes, &used);
  const auto count = static_cast<std::int64_t>(used.size());
  if (count <= options.clusters) return merged;
  const at::NoGradGuard no_grad;
  const at::Tensor index = torch::tensor(merged);
  const at::Tensor sizes = torch::bincount(index).to(at::kDouble);
  const at::Tensor x = points.to(at::kCPU, at::kDouble);
  const at::Tensor means =
      at::zeros({count, x.size(1)}, x.options()).index_add_(0, index, x) / sizes.unsqueeze(1);
  const Labels cluster_of = kmeans(means, options, sizes).labels;
  for (auto& label : merged) label = cluster_of[label];
  return merged;
}

}  // namespace cpl
