#include "cplearn/train/untrained.h"

#include <torch/torch.h>

#include "cplearn/train/checkpoint.h"
#include "cplearn/train/run.h"

namespace cpl {

std::shared_ptr<Method> fresh_network(const TrainOptions& options) {
  const at::Tensor random = torch_random_state();
  const std::shared_ptr<Method> method = make_network(options);
  set_torch_random_state(random);
  // Without a momentum, running statistics are plain means over all batches.
  for (const auto& module : method->modules(false)) {
    if (auto* norm = module->as<torch::nn::BatchNorm1d>()) norm->options.momentum(c10::nullopt);
    if (auto* norm = module->as<torch::nn::BatchNorm2d>()) norm->options.momentum(c10::nullopt);
  }
  method->eval();
  use_batch_statistics(*method, true);
  return method;
}

std::shared_ptr<Method> untrained_network(const TrainOptions& options, const Dataset& data,
                                          const AugmentOptions& views) {
  const std::shared_ptr<Method> method = fresh_network(options);
  FeatureOptions gather;
  gather.batch_statistics = true;
  stream_features(*method, data, views, gather,
                  [&](const at::Tensor& z, const Batch&) { method->embed(z); });
  return method;
}

}  // namespace cpl
