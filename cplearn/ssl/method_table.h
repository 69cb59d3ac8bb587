#pragma once
// The table of methods: all that a new one adds to existing files is its header and its row here.
// Command line, config files, help, checkpoints, evaluation and `cplearn info` follow from it.

#include "cplearn/ssl/barlow.h"
#include "cplearn/ssl/cplearn.h"
#include "cplearn/ssl/dino.h"
#include "cplearn/ssl/gedi.h"
#include "cplearn/ssl/method_row.h"
#include "cplearn/ssl/self_classifier.h"
#include "cplearn/ssl/swav.h"
#include "cplearn/ssl/vicreg.h"

namespace cpl {

// The options of its own, the name, what it is, where its settings differ from `cplearn train`'s
// defaults (a config file), and how it is made.
inline constexpr auto kMethodTable = std::make_tuple(
    MethodEntry<NoOptions>{
        "cplearn",
        "agree on a code of a large frozen dictionary, use all codes (Sansone et al., 2025)", "",
        make_cplearn},
    MethodEntry<BarlowOptions>{
        "barlow", "Barlow Twins: features correlate with themselves only (Zbontar et al., 2021)",
        "hidden = 2048\n", make_barlow},
    MethodEntry<VicregOptions>{
        "vicreg", "views close, features varied and uncorrelated (Bardes et al., 2022)",
        "hidden = 2048\n", make_vicreg},
    MethodEntry<SwavOptions>{"swav",
                             "predict the balanced cluster of another view (Caron et al., 2020)",
                             "codes = 3000\nhidden = 2048\n", make_swav},
    MethodEntry<DinoOptions>{
        "dino", "predict what a slow teacher says about another view (Caron et al., 2021)",
        "codes = 4096\nhidden = 2048\n", make_dino},
    MethodEntry<SelfClassifierOptions>{
        "self_classifier", "the same class for both views, classes balanced (Amrani et al., 2022)",
        "codes = 64\nhidden = 4096\n", make_self_classifier},
    MethodEntry<GediNogenOptions>{
        "gedi_nogen", "CPLearn's loss with a trained projector (Sansone, Manhaeve, 2024)",
        "codes = 64\nhidden = 2048\n", make_gedi_nogen},
    MethodEntry<GediOptions>{
        "gedi", "the same with an energy-based model of the images (Sansone, Manhaeve, 2024)",
        "codes = 64\nhidden = 2048\n", make_gedi});

}  // namespace cpl
