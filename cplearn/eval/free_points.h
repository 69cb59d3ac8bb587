#pragma once
// The loss alone, without a network: points that may move anywhere, to see where it leads them.
//
// A view of a point has a part of another point, drawn anew at every step, mixed into it: the views
// of a point then correlate as told, whatever the points do. What a network adds (that it cannot
// put every image anywhere, and that it may learn to see through the noise) is missing; what
// remains is the loss, so a collapse here is the loss's own doing.

#include <cstdint>
#include <functional>

#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/head_enums.h"

namespace cpl {

enum class Start {
  kRandom,   // anywhere
  kAlike,    // all nearly the same: the constant state
  kOneCode,  // all nearly on the first code
  kLine,     // nearly all on one line: the low rank
  kShort     // anywhere, but short, so that every code is equally likely; for l2 as random
};
inline const Names<Start> kStartNames = {{"random", Start::kRandom},
                                         {"alike", Start::kAlike},
                                         {"one code", Start::kOneCode},
                                         {"line", Start::kLine},
                                         {"short", Start::kShort}};

struct FreePointsOptions {
  std::int64_t width = 64;
  std::int64_t codes = 1024;
  std::int64_t points = 1024;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  Activation activation = Activation::kL2;
  LogitScale scale = LogitScale::kDeviation;
  double deviation = 0;  // as resolve_deviation
  PriorForm prior = PriorForm::kOthers;
  double beta = 0.4;
  double correlation = 1;  // between the views of a point: 1 without noise
  Start start = Start::kRandom;
  std::int64_t steps = 300;
  std::uint64_t seed = 0;
};

// Where the points have come to rest, from their embeddings without noise.
struct FreePointsState {
  double loss;
  double loss_if_uniform;  // beta ln c: every code equally likely for every point
  double codes_used;       // exp of the entropy of the nearest codes
  double rank;             // effective, of at most width
  double deviation;        // of the points from their mean / their length: 0 where all are alike
  double length;           // of the embeddings / the longest possible
  double confidence;       // mean probability of the nearest code
};

FreePointsState optimise_points(const FreePointsOptions& options,
                                const std::function<void(std::int64_t step)>& progress = {});

// "short" (uniform codes because embeddings shrank), "constant", "few codes", "low rank", "on
// codes" or "spread": the collapses first.
const char* regime(const FreePointsState& state, const FreePointsOptions& options);

}  // namespace cpl
