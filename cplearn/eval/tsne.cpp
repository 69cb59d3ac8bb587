#include "cplearn/eval/tsne.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/eval/neighbours.h"
#include "cplearn/eval/pca.h"
#include "cplearn/eval/quad_tree.h"
#include "cplearn/simd/repulsion_kernel.h"

namespace cpl {
namespace {

// p_ij, symmetric and sparse: row i is columns[starts[i]] .. columns[starts[i + 1]].
struct Affinities {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<float> values;  // sum to 1
};

// exp(-b d_j) over one row's squared distances, normalised, with b such that its perplexity is as
// wanted.
void calibrate(const float* distances, std::int64_t k, double perplexity, std::vector<double>& p) {
  const double wanted = std::log(perplexity), nearest = distances[0];
  double low = 0, high = INFINITY, precision = 1;
  const double spread = distances[k - 1] - nearest;
  if (spread > 0) precision = 1 / spread;
  p.resize(k);
  for (int step = 0; step < 200; ++step) {
    double sum = 0, moment = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const double distance = distances[j] - nearest;  // the row's own scale cancels
      p[j] = std::exp(-precision * distance);
      sum += p[j];
      moment += p[j] * distance;
    }
    for (double& value : p) value /= sum;
    const double excess = std::log(sum) + precision * moment / sum - wanted;
    if (std::abs(excess) < 1e-5) return;
    (excess > 0 ? low : high) = precision;
    precision = std::isinf(high) ? 2 * precision : 0.5 * (low + high);
    if (!std::isfinite(precision)) return;  // all at the same distance: nothing to calibrate
  }
}

Affinities affinities(const at::Tensor& x, double perplexity) {
  const std::int64_t n = x.size(0);
  const auto k = std::min(n - 1, static_cast<std::int64_t>(3 * perplexity));
  const Neighbours near = nearest_others(x, k);
  const auto* index = near.index.data_ptr<std::int64_t>();
  const float* distance = near.value.data_ptr<float>();
  std::vector<float> p(n * k);
  at::parallel_for(0, n, 256, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> row;
    for (std::int64_t i = begin; i < end; ++i) {
      calibrate(distance + i * k, k, perplexity, row);
      std::copy(row.begin(), row.end(), p.begin() + i * k);
    }
  });
  std::vector<std::vector<std::pair<std::int32_t, float>>> rows(n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < k; ++j) {
      const auto other = static_cast<std::int32_t>(index[i * k + j]);
      const float half = p[i * k + j] / static_cast<float>(2 * n);
      rows[i].emplace_back(other, half);
      rows[other].emplace_back(static_cast<std::int32_t>(i), half);
    }
  }
  Affinities result;
  result.starts.push_back(0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      const bool again = static_cast<std::int64_t>(result.columns.size()) > result.starts.back() &&
                         result.columns.back() == column;
      if (again) {
        result.values.back() += value;
      } else {
        result.columns.push_back(column);
        result.values.push_back(value);
      }
    }
    result.starts.push_back(static_cast<std::int64_t>(result.columns.size()));
  }
  return result;
}

class Descent {
 public:
  Descent(const Affinities& p, const at::Tensor& start, const TsneOptions& options)
      : p_(p), options_(options), n_(start.size(0)), velocity_(2 * n_), gains_(2 * n_, 1.0f) {
    const at::Tensor columns = start.t().contiguous();  // all x, then all y
    map_.assign(columns.data_ptr<float>(), columns.data_ptr<float>() + 2 * n_);
    pull_.resize(2 * n_);
    push_.resize(2 * n_);
    sums_.resize(n_);
  }

  // Jacobs' gains (1988), as every t-SNE. The gradient is without its factor 4, to which the usual
  // learning rates refer.
  void step(double exaggeration, double momentum, double rate) {
    attract();
    repel();
    // A point's own body adds 1 to its sum.
    const double normaliser =
        std::accumulate(sums_.begin(), sums_.end(), 0.0) - static_cast<double>(n_);
    for (std::int64_t i = 0; i < 2 * n_; ++i) {
      const double gradient = exaggeration * pull_[i] - push_[i] / normaliser;
      const bool turned = gradient * velocity_[i] > 0;  // still uphill: the step was too long
      gains_[i] = turned ? std::max(0.8f * gains_[i], 0.01f) : gains_[i] + 0.2f;
      velocity_[i] = static_cast<float>(momentum * velocity_[i] - rate * gains_[i] * gradient);
      map_[i] += velocity_[i];
    }
    centre();
  }

  at::Tensor map() const { return torch::tensor(map_).view({2, n_}).t().contiguous(); }

 private:
  float* y() { return map_.data() + n_; }

  void attract() {
    at::parallel_for(0, n_, 512, [&](std::int64_t begin, std::int64_t end) {
      const float* at_x = map_.data();
      const float* at_y = map_.data() + n_;
      for (std::int64_t i = begin; i < end; ++i) {
        float fx = 0, fy = 0;
        for (std::int64_t e = p_.starts[i]; e < p_.starts[i + 1]; ++e) {
          const std::int32_t j = p_.columns[e];
          const float dx = at_x[i] - at_x[j], dy = at_y[i] - at_y[j];
          const float weight = p_.values[e] / (1 + dx * dx + dy * dy);
          fx += weight * dx;
          fy += weight * dy;
        }
        pull_[i] = fx;
        pull_[n_ + i] = fy;
      }
    });
  }

  void repel() {
    if (options_.angle <= 0 || n_ <= options_.exact_points) {
      const std::vector<float> ones(n_, 1.0f);
      at::parallel_for(0, n_, 64, [&](std::int64_t begin, std::int64_t end) {
        simd::repel({map_.data(), y(), ones.data(), n_}, map_.data() + begin, y() + begin,
                    end - begin, push_.data() + begin, push_.data() + n_ + begin,
                    sums_.data() + begin);
      });
      return;
    }
    tree_.build(map_.data(), y(), n_);
    const auto& leaves = tree_.leaves();
    at::parallel_for(0, static_cast<std::int64_t>(leaves.size()), 16,
                     [&](std::int64_t begin, std::int64_t end) {
                       BodyList list;
                       std::vector<float> fx, fy, sum;
                       for (std::int64_t l = begin; l < end; ++l) {
                         const QuadTree::Leaf& leaf = leaves[l];
                         const std::int64_t count = leaf.end - leaf.begin;
                         tree_.interactions(leaf, options_.angle, list);
                         fx.resize(count);
                         fy.resize(count);
                         sum.resize(count);
                         simd::repel({list.x.data(), list.y.data(), list.mass.data(),
                                      static_cast<std::int64_t>(list.x.size())},
                                     tree_.x() + leaf.begin, tree_.y() + leaf.begin, count,
                                     fx.data(), fy.data(), sum.data());
                         for (std::int64_t i = 0; i < count; ++i) {
                           const std::int64_t to = tree_.original(leaf.begin + i);
                           push_[to] = fx[i];
                           push_[n_ + to] = fy[i];
                           sums_[to] = sum[i];
                         }
                       }
                     });
  }

  void centre() {
    for (float* axis : {map_.data(), y()}) {
      const double mean = std::accumulate(axis, axis + n_, 0.0) / static_cast<double>(n_);
      for (std::int64_t i = 0; i < n_; ++i) axis[i] -= static_cast<float>(mean);
    }
  }

  const Affinities& p_;
  const TsneOptions& options_;
  std::int64_t n_;
  std::vector<float> map_, velocity_, gains_;  // 2n: all x, then all y
  std::vector<float> pull_, push_;             // 2n
  std::vector<float> sums_;                    // n
  QuadTree tree_;
};

}  // namespace

at::Tensor tsne(const at::Tensor& x, const TsneOptions& options,
                const std::function<void(int)>& progress) {
  CPL_CHECK(x.dim() == 2 && x.size(0) >= 4 && x.size(1) >= 1,
            "t-SNE needs at least 4 points as n x d, got ", x.sizes());
  CPL_CHECK(options.perplexity >= 1 && options.exaggeration >= 1 && options.angle >= 0 &&
                options.angle < 1,
            "t-SNE needs perplexity and exaggeration of at least 1 and an angle in [0, 1), got ",
            options.perplexity, ", ", options.exaggeration, " and ", options.angle);
  const at::NoGradGuard no_grad;
  const auto n = static_cast<double>(x.size(0));
  const double perplexity = std::min(options.perplexity, (n - 1) / 3);
  at::Tensor start = principal_components(x, 2);
  // Small, so that the first steps see all points at once.
  start = start * (1e-4 / std::max(start.select(1, 0).std().item<double>(), 1e-30));
  const Affinities p = affinities(x, perplexity);
  Descent descent(p, start, options);
  const double rate =
      options.learning_rate > 0 ? options.learning_rate : std::max(n / options.exaggeration, 50.0);
  for (int i = 0; i < options.iterations; ++i) {
    const bool early = i < options.early_iterations;
    descent.step(early ? options.exaggeration : 1, early ? 0.5 : 0.8, rate);
    if (progress) progress(i + 1);
  }
  return descent.map();
}

}  // namespace cpl
