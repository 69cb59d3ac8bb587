#pragma once
// Images for a run that exists: decoded for its views, chosen as in its training.

#include <memory>
#include <string>

#include "cplearn/data/dataset.h"
#include "cplearn/train/run.h"

namespace cpl {

struct RunData {
  std::string spec;
  std::unique_ptr<Dataset> images;
};

// `spec` empty: what the run was trained on. `most`: so many images at most, by the run's seed; 0:
// all.
RunData open_run_data(const Run& run, const std::string& spec, std::int64_t most);
// All of them, decoded as for the views of the training: crops take more pixels.
std::unique_ptr<Dataset> open_as_in_training(const Run& run, const std::string& spec);

}  // namespace cpl
