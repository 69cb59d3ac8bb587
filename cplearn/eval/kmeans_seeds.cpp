#include "cplearn/eval/kmeans_seeds.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/random.h"
#include "cplearn/eval/row_sample.h"
#include "cplearn/nn/product.h"

namespace cpl {
namespace {

// Seeds are chosen among a sample of the points, at least so many: each seed costs a pass over it.
constexpr std::int64_t kSample = 4096, kSamplePerCluster = 20;

// One restart's state.
struct Seeding {
  Random random;
  std::vector<std::int64_t> chosen, candidates;
  std::vector<float> nearest;      // n, squared distance to the nearest seed
  std::vector<double> cumulative;  // n, prefix sums of weight * nearest

  // A point with probability proportional to the increments of `cumulative`.
  std::int64_t draw() {
    const double uniform = static_cast<double>(random.bits64() >> 11) * 0x1p-53;
    const auto found =
        std::upper_bound(cumulative.begin(), cumulative.end(), uniform * cumulative.back());
    return std::min<std::int64_t>(found - cumulative.begin(), cumulative.size() - 1);
  }
};

}  // namespace

std::vector<std::vector<std::int64_t>> kmeans_seeds(const at::Tensor& points,
                                                    const at::Tensor& norms,
                                                    const std::vector<double>& weights,
                                                    std::int64_t clusters, int restarts,
                                                    std::uint64_t seed) {
  const std::int64_t n = points.size(0);
  const std::int64_t stride = n / std::max<std::int64_t>(kSample, kSamplePerCluster * clusters);
  if (stride > 1) {
    const std::vector<std::int64_t> rows = sample_rows(n, stride, seed);
    const at::Tensor index = torch::tensor(rows);
    std::vector<double> sampled;
    sampled.reserve(rows.size());
    for (const std::int64_t row : rows) sampled.push_back(weights[row]);
    auto seeds = kmeans_seeds(points.index_select(0, index), norms.index_select(0, index), sampled,
                              clusters, restarts, seed);
    for (auto& run : seeds)
      for (auto& row : run) row = rows[row];
    return seeds;
  }
  const auto trials = 2 + static_cast<std::int64_t>(std::log(static_cast<double>(clusters)));
  const float* norm = norms.data_ptr<float>();

  std::vector<Seeding> runs;
  for (int r = 0; r < restarts; ++r) {
    Seeding run{Random(seed, Stream::kEval, r), {}, {}, std::vector<float>(n, 1.0f), {}};
    run.cumulative.resize(n);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) run.cumulative[i] = sum += weights[i];
    run.candidates = {run.draw()};
    std::fill(run.nearest.begin(), run.nearest.end(), INFINITY);
    runs.push_back(std::move(run));
  }

  for (std::int64_t step = 0; step < clusters; ++step) {
    const auto width = static_cast<std::int64_t>(runs.front().candidates.size());
    std::vector<std::int64_t> all;
    for (const auto& run : runs)
      all.insert(all.end(), run.candidates.begin(), run.candidates.end());
    const at::Tensor rows = points.index_select(0, torch::tensor(all));
    const at::Tensor products = cpl::product(rows, points.t());  // (r t) x n
    const float* product = products.data_ptr<float>();

    at::parallel_for(0, restarts, 1, [&](std::int64_t first, std::int64_t last) {
      std::vector<float> trial(n), best(n);
      for (std::int64_t r = first; r < last; ++r) {
        Seeding& run = runs[r];
        double least = INFINITY;
        std::int64_t winner = -1;
        for (std::int64_t t = 0; t < width; ++t) {
          const float* with = product + (r * width + t) * n;
          const float own = norm[run.candidates[t]];
          double sum = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const float distance = std::max(norm[i] + own - 2 * with[i], 0.0f);
            trial[i] = std::min(run.nearest[i], distance);
            sum += weights[i] * trial[i];
          }
          if (sum < least) {
            least = sum;
            winner = run.candidates[t];
            best.swap(trial);
          }
        }
        run.chosen.push_back(winner);
        run.nearest.swap(best);
        run.nearest[winner] = 0;  // exactly: rounding must not let it be drawn again
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) run.cumulative[i] = sum += weights[i] * run.nearest[i];
        run.candidates.assign(trials, 0);
        for (auto& candidate : run.candidates) candidate = run.draw();
      }
    });
  }

  std::vector<std::vector<std::int64_t>> seeds;
  seeds.reserve(runs.size());
  for (auto& run : runs) seeds.push_back(std::move(run.chosen));
  return seeds;
}

}  // namespace cpl
