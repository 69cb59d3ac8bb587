#pragma once
// The same network before training: what a finding has to be compared with.

#include <memory>

#include "cplearn/train/features.h"
#include "cplearn/train/options.h"

namespace cpl {

// Fresh weights, in evaluation mode. A new network's batch norms have seen nothing: these get the
// statistics of the images, as those of a training would.
std::shared_ptr<Method> untrained_network(const TrainOptions& options, const Dataset& data,
                                          const AugmentOptions& views);

}  // namespace cpl
