#pragma once
// What a network makes of a data set: representations, embeddings and codes of every image.

#include <ATen/core/Tensor.h>

#include <functional>

#include "cplearn/data/dataset.h"
#include "cplearn/data/recipe.h"
#include "cplearn/ssl/method.h"

namespace cpl {

struct Features {
  at::Tensor representations;        // n x features
  at::Tensor embeddings;             // n x d
  at::Tensor codes;                  // n, int64; undefined for methods without codes
  at::Tensor confidence;             // n, probability of the code; likewise
  std::vector<std::int64_t> labels;  // n, -1 where not known
  std::vector<std::uint32_t>
      images;  // n, indices into the data set: pictures that cannot be read are left out

  // The rows whose label is known.
  Features labelled() const;
};

// In the order of the data set, the network in evaluation mode. `progress` gets the images done so
// far.
Features extract_features(Method& method, const Dataset& data, const AugmentOptions& views,
                          const std::function<void(std::int64_t)>& progress);

// The images themselves, n x (side * side * 3), as the network would be shown them: what is to be
// beaten.
Features extract_pixels(const Dataset& data, const AugmentOptions& views);

}  // namespace cpl
