#pragma once
// Maps of the images (t-SNE, principal components) and the pictures of the largest and tightest
// clusters: gallery.json, from which pages are made without torch.

#include <functional>
#include <nlohmann/json.hpp>

#include "cplearn/train/features.h"

namespace cpl {

struct GalleryOptions {
  std::int64_t map_images = 2000;
  std::int64_t clusters = 12;  // of each list
  std::int64_t tiles = 12;     // pictures of each cluster
  std::uint64_t seed = 0;      // of the k-means that replaces missing codes
};

// `progress` gets the iterations of t-SNE done so far.
nlohmann::ordered_json make_gallery(const Features& features, const Dataset& data,
                                    const GalleryOptions& options,
                                    const std::function<void(int)>& progress);

}  // namespace cpl
