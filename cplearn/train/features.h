#pragma once
// What a network makes of a data set: representations, embeddings and codes of every image.

#include <ATen/core/Tensor.h>

#include <functional>

#include "cplearn/data/loader.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// Whether batch norms, and nothing else, behave as in training.
void use_batch_statistics(Method& method, bool use);

struct FeatureOptions {
  int batch = 256;
  // Batch norms use each batch's own statistics instead of those gathered in training, as the
  // authors' released evaluation does (with batches of 64). Then an image's features depend on the
  // images beside it.
  bool batch_statistics = false;
};

// Passes the images through the backbone in the order of the data set, without gradients, and calls
// take(representations, batch) for each batch: (views * n) x features, all n of the first view
// first. Pictures that cannot be read are left out. Memory does not grow with the data set.
using TakeFeatures = std::function<void(const at::Tensor& representations, const Batch& batch)>;
void stream_features(Method& method, const Dataset& data, const AugmentOptions& views,
                     const FeatureOptions& options, const TakeFeatures& take);

struct Features {
  at::Tensor representations;         // n x features
  at::Tensor embeddings;              // n x d
  at::Tensor codes;                   // n, int64; undefined for methods without codes
  at::Tensor confidence;              // n, probability of the code; undefined likewise
  std::vector<std::int64_t> labels;   // n, -1 where not known
  std::vector<std::uint32_t> images;  // n, indices into the data set

  std::vector<std::int64_t> code_list() const;  // `codes`; empty for methods without
  // The rows whose label is known.
  Features labelled() const;
};

// `progress` gets the images done so far.
Features extract_features(Method& method, const Dataset& data, const AugmentOptions& views,
                          const FeatureOptions& options,
                          const std::function<void(std::int64_t)>& progress);

// How many images' probabilities of all codes are held at once, for those who take some at a time.
std::int64_t rows_at_once(std::int64_t codes);

// The images themselves, n x (side * side * 3), as the network would be shown them: what is to be
// beaten.
Features extract_pixels(const Dataset& data, const AugmentOptions& views);

}  // namespace cpl
