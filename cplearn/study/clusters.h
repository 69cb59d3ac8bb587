#pragma once
// Clusters of images, described for people.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cplearn/eval/contingency.h"

namespace cpl {

struct ImageCluster {
  std::int64_t id;                 // code or cluster number
  std::vector<std::int64_t> rows;  // its images, nearest to the centre first
  double spread;                   // rms distance to the centre / that of all images to theirs
  std::int64_t label = -1;         // the commonest known class, -1 without labels
  double purity = 0;               // its share among the labelled images
};

// Most images first. `x`: n x d. `labels`: -1 where not known.
std::vector<ImageCluster> describe_clusters(const at::Tensor& x, const Labels& clusters,
                                            const Labels& labels);

}  // namespace cpl
