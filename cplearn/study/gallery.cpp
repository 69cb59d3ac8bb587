#include "cplearn/study/gallery.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cplearn/data/sprite.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/pca.h"
#include "cplearn/eval/tsne.h"
#include "cplearn/report/svg.h"
#include "cplearn/study/clusters.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTightest = 5;  // smaller clusters are tight by chance

// Tiles of the sprite, handed out as images are first shown.
class Tiles {
 public:
  std::int64_t of(std::uint32_t image) {
    const auto [entry, added] = known_.emplace(image, static_cast<std::int64_t>(images_.size()));
    if (added) images_.push_back(image);
    return entry->second;
  }
  const std::vector<std::uint32_t>& images() const { return images_; }

 private:
  std::map<std::uint32_t, std::int64_t> known_;
  std::vector<std::uint32_t> images_;
};

// 4 digits across the map are enough for a screen.
Json coordinates(const at::Tensor& map) {
  const at::Tensor m = map.to(at::kDouble).contiguous();
  const double largest = std::max(m.abs().max().item<double>(), 1e-30);
  const double unit = std::pow(10.0, std::floor(std::log10(largest)) - 3);
  Json list = Json::array();
  for (std::int64_t i = 0; i < m.size(0); ++i) {
    const double* row = m.data_ptr<double>() + 2 * i;
    list.push_back({std::round(row[0] / unit) * unit, std::round(row[1] / unit) * unit});
  }
  return list;
}

Labels clusters_of(const Features& features, const GalleryOptions& options) {
  if (features.codes.defined()) return features.code_list();
  KMeansOptions kmeans_options;
  kmeans_options.clusters = std::clamp<std::int64_t>(features.embeddings.size(0) / 10, 1, 100);
  kmeans_options.restarts = 1;
  kmeans_options.seed = options.seed;
  return kmeans(features.embeddings, kmeans_options).labels;
}

}  // namespace

Json make_gallery(const Features& features, const Dataset& data, const GalleryOptions& options,
                  const std::function<void(int)>& progress) {
  const at::NoGradGuard no_grad;
  const auto n = static_cast<std::int64_t>(features.images.size());
  const std::int64_t shown = std::min(n, options.map_images);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < shown; ++i) rows.push_back(i * n / shown);
  const at::Tensor x = features.representations.index_select(0, torch::tensor(rows, at::kLong));

  Tiles tiles;
  Json map = {{"tsne", Json::array()}, {"pca", coordinates(principal_components(x, 2))}};
  if (shown >= 4) map["tsne"] = coordinates(tsne(x, TsneOptions(), progress));
  for (const std::int64_t row : rows) {
    map["label"].push_back(features.labels[row]);
    map["code"].push_back(features.codes.defined() ? features.codes[row].item<std::int64_t>() : -1);
    map["file"].push_back(data.name(features.images[row]));
    map["tile"].push_back(tiles.of(features.images[row]));
  }

  std::vector<ImageCluster> clusters =
      describe_clusters(features.embeddings, clusters_of(features, options), features.labels);
  const auto describe = [&](const std::vector<ImageCluster>& chosen) {
    Json list = Json::array();
    for (std::size_t i = 0; i < chosen.size() && i < static_cast<std::size_t>(options.clusters);
         ++i) {
      const ImageCluster& cluster = chosen[i];
      Json pictures = Json::array();
      for (std::size_t r = 0;
           r < cluster.rows.size() && r < static_cast<std::size_t>(options.tiles); ++r)
        pictures.push_back(tiles.of(features.images[cluster.rows[r]]));
      const bool known = cluster.label >= 0;
      list.push_back({{"code", cluster.id},
                      {"images", cluster.rows.size()},
                      {"spread", cluster.spread},
                      {"label", known ? Json(data.classes()[cluster.label]) : Json(nullptr)},
                      {"purity", known ? Json(cluster.purity) : Json(nullptr)},
                      {"tiles", pictures}});
    }
    return list;
  };
  Json out = {{"classes", data.classes()}, {"map", map}};
  out["clusters"]["largest"] = describe(clusters);
  clusters.erase(std::remove_if(clusters.begin(), clusters.end(),
                                [](const auto& c) { return c.rows.size() < kTightest; }),
                 clusters.end());
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const auto& a, const auto& b) { return a.spread < b.spread; });
  out["clusters"]["tightest"] = describe(clusters);
  const Sprite sprite = make_sprite(data, tiles.images());
  out["sprite"] = {{"tile", sprite.tile},
                   {"columns", sprite.columns},
                   {"data", "data:image/jpeg;base64," + base64(sprite.jpeg)}};
  return out;
}

}  // namespace cpl
