#pragma once
// Everything a run needs to go on as if it had never stopped, in one safetensors file.
//
//   method.*            weights and buffers, "method.backbone.*" and the method's own
//   optimizer.*         its moments and its count of steps
//   probe.*, probe_optimizer.*, monitor.*, averages.*
//   random.torch        state of torch's generator
//
// The metadata has the step (from which the schedule and the place in the epoch follow), the
// configuration, the normalisation of the images, and the facts that change bits: a run that goes
// on with other threads or on another processor is warned, since it will differ in rounding.

#include <cstdint>
#include <string>

#include "cplearn/nn/state.h"

namespace cpl {

struct Checkpoint {
  std::int64_t step = 0;
  std::string config;         // as config.toml
  std::string normalisation;  // see data/normalise.h
  Metadata facts;             // see current_facts()
  NamedTensors tensors;
};

// Throws cpl::Error; the file that was there before stays.
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint load_checkpoint(const std::string& path);

// Threads, processor, instruction set, libtorch.
Metadata current_facts();

// A sentence about what differs, or "".
std::string changed_facts(const Metadata& before, const Metadata& now);

}  // namespace cpl
