#include "cplearn/eval/kmeans.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <set>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/eval/cluster_scores.h"
#include "cplearn/eval/kmeans_seeds.h"

namespace cpl {
namespace {

struct Blobs {
  at::Tensor points;
  Labels labels;
};

// Points around `kinds` random centres; `spread` 0.3 is well apart, 1.5 overlaps.
Blobs blobs(std::int64_t n, std::int64_t d, std::int64_t kinds, float spread, std::uint64_t seed) {
  Random random(seed, Stream::kEval);
  std::vector<float> centres(kinds * d);
  for (auto& x : centres) x = random.normal();
  Blobs out{at::empty({n, d}), Labels(n)};
  float* x = out.points.data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    out.labels[i] = i % kinds;
    for (std::int64_t j = 0; j < d; ++j)
      x[i * d + j] = centres[out.labels[i] * d + j] + spread * random.normal();
  }
  return out;
}

// Lloyd in double, all distances, from the same seeds.
Labels naive_lloyd(const at::Tensor& points, at::Tensor centres, const at::Tensor& weights) {
  const at::Tensor x = points.to(at::kDouble), w = weights.to(at::kDouble);
  centres = centres.to(at::kDouble);
  at::Tensor labels;
  for (int i = 0; i < 300; ++i) {
    const at::Tensor next = at::cdist(x, centres).argmin(1);
    if (labels.defined() && next.equal(labels)) break;
    labels = next;
    for (std::int64_t j = 0; j < centres.size(0); ++j) {
      const at::Tensor mask = (labels == j).to(at::kDouble) * w;
      centres[j] = (x * mask.unsqueeze(1)).sum(0) / mask.sum();
    }
  }
  return {labels.data_ptr<std::int64_t>(), labels.data_ptr<std::int64_t>() + labels.numel()};
}

TEST(KMeans, EqualsLloydWithAllDistances) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const at::Tensor raw = blobs(700, 12, 8, 1.5f, seed).points;
    const at::Tensor points = (raw - raw.mean(0)).contiguous();
    std::vector<double> weights(700, 1.0);
    if (seed % 2)
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = 1.0 + static_cast<double>(i % 5);
    const at::Tensor w = torch::tensor(weights, at::kDouble);
    const auto seeds = kmeans_seeds(points, points.square().sum(1), weights, 20, 1, seed);
    KMeansOptions options;
    options.clusters = 20;
    options.restarts = 1;
    options.tolerance = 0;
    options.seed = seed;
    const KMeans found = kmeans(points, options, w);
    const at::Tensor start = points.index_select(0, torch::tensor(seeds[0]));
    EXPECT_EQ(found.labels, naive_lloyd(points, start, w)) << "seed " << seed;
    const at::Tensor own = found.centres.index_select(0, torch::tensor(found.labels));
    const double inertia =
        ((points - own).to(at::kDouble).square().sum(1) * w).sum().item<double>();
    EXPECT_NEAR(found.inertia / inertia, 1, 1e-5);
  }
}

TEST(KMeans, FindsSeparateBlobsFarFromTheOrigin) {
  const Blobs data = blobs(600, 16, 6, 0.3f, 5);
  KMeansOptions options;
  options.clusters = 6;
  const KMeans found = kmeans(data.points + 1000, options);
  EXPECT_EQ(cluster_scores(found.labels, data.labels).ari, 1);
  EXPECT_EQ(kmeans(data.points + 1000, options).labels, found.labels);  // deterministic
}

TEST(KMeans, DuplicatesLeaveNoClusterEmptyWhenPointsSuffice) {
  at::Tensor points = at::zeros({50, 3});
  points.narrow(0, 0, 5).copy_(torch::arange(15).view({5, 3}));
  KMeansOptions options;
  options.clusters = 6;
  const KMeans found = kmeans(points, options);
  EXPECT_EQ(std::set<std::int64_t>(found.labels.begin(), found.labels.end()).size(), 6u);
  EXPECT_NEAR(found.inertia, 0, 1e-4);
  options.clusters = 20;  // more than distinct points: still ends, all distances 0
  EXPECT_NEAR(kmeans(points, options).inertia, 0, 1e-4);
}

TEST(KMeans, RefusesWhatCannotWork) {
  KMeansOptions options;
  EXPECT_THROW(kmeans(at::zeros({9, 2}), options), Error);  // 10 clusters
  EXPECT_THROW(kmeans(at::full({20, 2}, NAN), options), Error);
  EXPECT_THROW(kmeans(at::zeros({20}), options), Error);
  EXPECT_THROW(kmeans(at::zeros({20, 2}), options, at::ones({19})), Error);
}

TEST(MergeCodes, PutsSplitClassesTogether) {
  const Blobs data = blobs(900, 16, 6, 0.3f, 6);
  Labels codes(900);
  for (std::int64_t i = 0; i < 900; ++i) codes[i] = data.labels[i] * 1000 + (i / 6) % 25;
  KMeansOptions options;
  options.clusters = 6;
  const Labels merged = merge_codes(data.points, codes, options);
  EXPECT_EQ(cluster_scores(merged, data.labels).accuracy, 1);
  // Points of one code stay together.
  EXPECT_EQ(contingency(codes, merged).cells.size(), contingency(codes, codes).cells.size());
  options.clusters = 200;
  EXPECT_EQ(cluster_scores(merge_codes(data.points, codes, options), codes).ari, 1);
}

}  // namespace
}  // namespace cpl
