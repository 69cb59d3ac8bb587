#pragma once
// Is the model collapsed? One judge, without labels, for everybody who asks: the monitor of a
// training, its final verdict, `cplearn diagnose`, and embeddings from other tools. The limits come
// from runs of every method on CIFAR-10, and were tested on runs with other images that had no part
// in them (docs/judge.md: what each verdict is worth, and the command that redoes it).

#include <array>
#include <string>

#include "cplearn/eval/vital_signs.h"

namespace cpl {

enum class Verdict { kHealthy, kWarning, kCollapsed, kUnknown };
const char* verdict_name(Verdict verdict);  // "healthy", "warning", "collapsed", "unknown"

struct Finding {
  const char* name;      // "representation", "dimensional", "cluster", "intracluster"
  double value = 0;      // without units
  double threshold = 0;  // under this it is collapsed
  Verdict verdict = Verdict::kUnknown;
  std::string words = {};  // what the value means here
};

// The paper's four collapses.
struct Judgement {
  // Every image has the same output, or codes that say nothing about it.
  Finding representation{"representation"};
  // Representations fill few directions.
  Finding dimensional{"dimensional"};
  // Few codes share all images.
  Finding cluster{"cluster"};
  // The images of a code have become one point. Of representations: that *embeddings* sit on
  // their codes is the paper's optimum.
  Finding intracluster{"intracluster"};
  Verdict verdict = Verdict::kUnknown;  // the worst of those that are known

  std::array<const Finding*, 4> findings() const {
    return {&representation, &dimensional, &cluster, &intracluster};
  }
  // "healthy", "doubtful: cluster", "collapsed: representation, dimensional", "unknown"
  std::string summary() const;
};

// Healthy from `warning` on, collapsed under `collapsed`.
struct Limits {
  double collapsed, warning;
};

// Where the limits are, and nowhere else. Those of rank_ratio, information and used are halfway
// between runs that were broken and runs that were not (docs/judge.md); the others are for states
// that no such run came to.
struct JudgeLimits {
  // Deviation from the mean / length, of representations and of embeddings: 0 for a constant.
  Limits deviation{0.02, 0.05};
  // What codes tell about an image / the most they could: 0 for codes that do not depend on it.
  Limits information{0.03, 0.06};
  // Rank of the representations / that of the same network before its training.
  Limits rank_ratio{0.75, 1.0};
  // More than this is not asked for: wide untrained networks spread noise over hundreds of
  // directions.
  double enough_rank = 20;
  // The rank itself, where the untrained network is not known.
  Limits rank{2, 4};
  // Entropy of the codes in use / the most possible: 0.5 is the square root of their number.
  Limits used{0.5, 0.55};
  // Variance of representations within codes / their whole variance.
  Limits within{1e-3, 1e-2};
};

// How often this verdict was right: what became of runs on images that no limit was taken from
// (docs/judge.md). For verdicts that compare with the untrained network; empty for kUnknown.
std::string verdict_record(const Judgement& judgement);

// `before`: the same network untrained, or null if that is not known.
Judgement judge(const VitalSigns& now, const VitalSigns* before, const JudgeLimits& limits);

}  // namespace cpl
