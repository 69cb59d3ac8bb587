#pragma once
// The network of a run (run_config.h): made, or opened again.

#include <memory>
#include <string>

#include "cplearn/ssl/method.h"
#include "cplearn/train/checkpoint.h"
#include "cplearn/train/run_config.h"

namespace cpl {

// The network of `options` with fresh weights, drawn from the seed.
std::shared_ptr<Method> make_network(const TrainOptions& options);

// A trained network, ready for evaluation: in evaluation mode, on the CPU.
struct Run {
  TrainOptions options;
  std::shared_ptr<Method> method;  // method->backbone().forward(images), method->embed(z), ...
  std::int64_t step = 0;
  AugmentOptions views;  // how an image is shown to it: one view, nothing random
};

// `path`: a run directory (its latest checkpoint), or one checkpoint file. Throws cpl::Error.
Run open_run(const std::string& path);

}  // namespace cpl
