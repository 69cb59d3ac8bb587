#pragma once
// The same network before training: what a finding has to be compared with.

#include <memory>

#include "cplearn/train/features.h"
#include "cplearn/train/options.h"

namespace cpl {

// Fresh weights. A new network's batch norms have seen nothing: until eval() is called, they gather
// plain means over all that the network is shown. torch's generator is left as it was.
std::shared_ptr<Method> fresh_network(const TrainOptions& options);

// In evaluation mode, with the statistics of all images, as those of a training would have them.
std::shared_ptr<Method> untrained_network(const TrainOptions& options, const Dataset& data,
                                          const AugmentOptions& views);

}  // namespace cpl
