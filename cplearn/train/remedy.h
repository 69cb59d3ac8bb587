#pragma once
// What to change when a training collapses: a pure function of its settings, without torch. People
// read it as advice, and --recover acts on it.

#include <string>
#include <vector>

#include "cplearn/train/options.h"

namespace cpl {

struct Remedy {
  std::string option, now, better;
};

// Settings of the loss that are not the method's defaults go back to them, as do a higher learning
// rate and a small batch. Where nothing of this is left, the learning rate goes down. The published
// form of CPLearn collapses by itself with random crops; its remedy is the default one.
std::vector<Remedy> remedies(const TrainOptions& options);

// "--beta 0.4 (now 10), --lr 0.001 (now 0.1)"
std::string remedy_words(const std::vector<Remedy>& remedies);

// The settings with all remedies that leave the network and its data as they are.
TrainOptions with_remedies(TrainOptions options, const std::vector<Remedy>& remedies);

}  // namespace cpl
