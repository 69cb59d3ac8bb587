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

// Settings of the method's loss that are not its defaults go back to them, as do a higher learning
// rate, a heavy weight decay and a small batch. Where nothing of this is left, the learning rate
// goes down. The published form of CPLearn collapses by itself with random crops; its remedy is the
// default one.
std::vector<Remedy> remedies(const TrainOptions& options);

// A learning rate for a training that met NaN: a tenth, at most the usual one.
std::string safe_rate(const TrainOptions& options);

// "--beta 0.4 (now 10), --lr 0.001 (now 0.1)"
std::string remedy_words(const std::vector<Remedy>& remedies);

// The settings with the remedies that a network in training can take: not its method, not its
// batch. At least the learning rate is lower.
TrainOptions with_remedies(TrainOptions options, const std::vector<Remedy>& remedies);

// What differs, as remedies.
std::vector<Remedy> changes(const TrainOptions& before, const TrainOptions& after);

}  // namespace cpl
