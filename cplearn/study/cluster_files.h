#pragma once
// Images sorted into clusters, as files: a table, a page, folders of links.

#include <string>

#include "cplearn/base/options.h"
#include "cplearn/study/clusters.h"
#include "cplearn/train/features.h"

namespace cpl {

struct ClusterOptions {
  std::int64_t k = 0;
  bool links = false;
  std::int64_t page_clusters = 100;
  std::int64_t page_images = 30;
  std::uint64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("k", k, "number of clusters, to which codes are merged; 0: each code is one", AtLeast{0});
    v("links", links, "also make a folder of symbolic links for each cluster");
    v("page-clusters", page_clusters, "clusters on the page, the largest ones", AtLeast{1});
    v("page-images", page_images, "pictures of each on the page", AtLeast{1});
  }
};

// A cluster for each image: its code, codes merged to k, or k-means for methods without codes.
Labels assign_clusters(const Features& features, const ClusterOptions& options);

struct ClusterTitle {
  std::string title, run;
};

// Writes clusters.csv (image, code, cluster, confidence), index.html and, if wanted, links/ into
// `folder`, which is made if it is not there. `found`: describe_clusters() of these.
void write_clusters(const Features& features, const Dataset& data, const Labels& clusters,
                    const std::vector<ImageCluster>& found, const ClusterOptions& options,
                    const ClusterTitle& title, const std::string& folder);

}  // namespace cpl
