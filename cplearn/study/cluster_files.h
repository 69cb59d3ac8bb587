#pragma once
// Images sorted into clusters, as files: a table, a page, folders of links.

#include <string>

#include "cplearn/study/clusters.h"
#include "cplearn/study/study_options.h"
#include "cplearn/train/features.h"

namespace cpl {

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
