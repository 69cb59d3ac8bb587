#pragma once
// The table of methods: all that a new one adds to existing files is its include and its row here.
// Command line, config files, help, checkpoints, evaluation and `cplearn info` follow from it.

#include <tuple>

#include "cplearn/ssl/barlow.h"
#include "cplearn/ssl/cplearn.h"
#include "cplearn/ssl/dino.h"
#include "cplearn/ssl/gedi.h"
#include "cplearn/ssl/self_classifier.h"
#include "cplearn/ssl/swav.h"
#include "cplearn/ssl/vicreg.h"

namespace cpl {

inline constexpr std::tuple kMethodTable{
    MethodEntry<NoOptions>{&kCplearn},
    MethodEntry<BarlowOptions>{&kBarlow},
    MethodEntry<VicregOptions>{&kVicreg},
    MethodEntry<SwavOptions>{&kSwav},
    MethodEntry<DinoOptions>{&kDino},
    MethodEntry<SelfClassifierOptions>{&kSelfClassifier},
    MethodEntry<GediNogenOptions>{&kGediNogen},
    MethodEntry<GediOptions>{&kGedi},
};

}  // namespace cpl
