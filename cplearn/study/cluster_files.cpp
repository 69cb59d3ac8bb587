#include "cplearn/study/cluster_files.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cplearn/base/csv.h"
#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/data/sprite.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/report/cluster_page.h"
#include "cplearn/report/svg.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

void write_table(const Features& features, const Dataset& data, const Labels& clusters,
                 const std::string& path) {
  const bool codes = features.codes.defined();
  std::string text = "image,code,cluster,confidence\n";
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    text +=
        str(csv_field(data.name(features.images[i])), ",",
            codes ? std::to_string(features.codes[row].item<std::int64_t>()) : "", ",", clusters[i],
            ",", codes ? readable(features.confidence[row].item<double>()) : "", "\n");
  }
  write_file(path, text);
}

std::string heading(const ImageCluster& cluster, const Dataset& data) {
  std::string text = str("cluster ", cluster.id, ": ", cluster.rows.size(),
                         cluster.rows.size() == 1 ? " image" : " images");
  if (cluster.label >= 0)
    text +=
        str(", ", readable(std::round(100 * cluster.purity)), " % ", data.classes()[cluster.label]);
  return text;
}

void write_page(const Features& features, const Dataset& data,
                const std::vector<ImageCluster>& found, const ClusterOptions& options,
                const ClusterTitle& title, const std::string& path) {
  ClusterPage page;
  page.title = title.title;
  std::vector<std::uint32_t> pictures;
  for (const ImageCluster& cluster : found) {
    if (static_cast<std::int64_t>(page.clusters.size()) == options.page_clusters) break;
    ClusterPage::Cluster shown;
    shown.heading = heading(cluster, data);
    const auto most = std::min(cluster.rows.size(), static_cast<std::size_t>(options.page_images));
    for (std::size_t i = 0; i < most; ++i) {
      shown.tiles.push_back(static_cast<int>(pictures.size()));
      pictures.push_back(features.images[cluster.rows[i]]);
    }
    page.clusters.push_back(std::move(shown));
  }
  page.words = str(features.images.size(), " images in ", found.size(), " clusters found by ",
                   title.run, " without labels. Shown: the ", page.clusters.size(),
                   " largest, and of each the images nearest to its centre.");
  const Sprite sprite = make_sprite(data, pictures, 48);
  page.tile = sprite.tile;
  page.columns = sprite.columns;
  page.sprite = "data:image/jpeg;base64," + base64(sprite.jpeg);
  write_file(path, cluster_page_html(page));
}

void make_links(const Features& features, const Dataset& data, const Labels& clusters,
                const fs::path& folder) {
  CPL_CHECK(!fs::exists(folder), folder.string(),
            " exists already: remove it, or choose another --out");
  CPL_CHECK(fs::exists(data.name(features.images.front())),
            "links need images that are files of their own; this data set has none (",
            data.name(features.images.front()), ")");
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const fs::path file = fs::absolute(data.name(features.images[i]));
    const fs::path place = folder / std::to_string(clusters[i]);
    fs::create_directories(place);
    // Files of one name may come from several folders.
    fs::path link = place / file.filename();
    if (fs::is_symlink(link)) link = place / str(features.images[i], "-", file.filename().string());
    fs::create_symlink(file, link);
  }
}

}  // namespace

Labels assign_clusters(const Features& features, const ClusterOptions& options) {
  CPL_CHECK(features.codes.defined() || options.k > 0,
            "this method has no codes: say how many clusters you want with --k");
  KMeansOptions kmeans_options;
  kmeans_options.clusters = options.k;
  kmeans_options.seed = options.seed;
  if (!features.codes.defined()) {
    CPL_CHECK(options.k <= features.embeddings.size(0), "--k asks for ", options.k,
              " clusters, but there are only ", features.embeddings.size(0), " images");
    return kmeans(features.embeddings, kmeans_options).labels;
  }
  const Labels codes = features.code_list();
  return options.k == 0 ? codes : merge_codes(features.embeddings, codes, kmeans_options);
}

void write_clusters(const Features& features, const Dataset& data, const Labels& clusters,
                    const std::vector<ImageCluster>& found, const ClusterOptions& options,
                    const ClusterTitle& title, const std::string& folder) {
  fs::create_directories(folder);
  if (options.links) make_links(features, data, clusters, fs::path(folder) / "links");
  write_table(features, data, clusters, folder + "/clusters.csv");
  write_page(features, data, found, options, title, folder + "/index.html");
}

}  // namespace cpl
