#pragma once
// Looks at a run before it starts: settings that cannot work, or will disappoint, in words.

#include <string>
#include <vector>

#include "cplearn/train/options.h"

namespace cpl {

struct Outlook {
  std::int64_t images = 0;
  double memory_needed = 0;  // bytes, with gradients and the optimiser's state
  double memory_free = 0;
};

// A sentence for each thing that people should know. A pure function.
std::vector<std::string> preflight(const TrainOptions& options, const Outlook& outlook);

// Bytes that training takes, from a forward pass on a few images: activations grow with the batch.
double training_memory(Method& method, const TrainOptions& options, const AugmentOptions& augment);

}  // namespace cpl
