// cplearn cluster: sorts images without labels into groups, as a table, a page and folders.

#include <filesystem>
#include <memory>

#include "cli/engine/commands.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/study/cluster_files.h"
#include "cplearn/study/run_data.h"

namespace cpl::cli {

int run_cluster(const ClusterArguments& arguments, const Common& common) {
  ClusterArguments o = arguments;
  cpl::Run trained = open_run(o.run);
  const auto [spec, data] = open_run_data(trained, o.data, 0);
  Features features;
  {
    Progress progress(static_cast<std::int64_t>(data->size()), "images", common.progress());
    features = extract_features(*trained.method, *data, trained.views, FeatureOptions(),
                                [&](std::int64_t done) { progress.update(done); });
  }
  o.clusters.seed = common.seed;
  const Labels clusters = assign_clusters(features, o.clusters);
  const auto found = describe_clusters(features.embeddings, clusters, features.labels);
  write_clusters(features, *data, clusters, found, o.clusters, {str("Clusters of ", spec), o.run},
                 o.out);

  TextTable table({"cluster", "images", "spread", "commonest class"});
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < found.size() && i < kShown; ++i)
    table.add({std::to_string(found[i].id), std::to_string(found[i].rows.size()),
               readable(found[i].spread),
               found[i].label < 0 ? "-"
                                  : str(data->classes()[found[i].label], " (",
                                        readable(100 * found[i].purity), " %)")});
  common.say() << features.images.size() << " images in " << found.size() << " clusters"
               << (found.size() > kShown ? str("; the ", kShown, " largest") : "") << ":\n\n"
               << table.str() << "\nWritten: " << o.out << "/clusters.csv, index.html"
               << (o.clusters.links ? ", links/" : "") << "\n";
  common.result({{"clusters", found.size()},
                 {"images", features.images.size()},
                 {"file", o.out + "/clusters.csv"},
                 {"page", o.out + "/index.html"}});
  return kSuccess;
}

}  // namespace cpl::cli
