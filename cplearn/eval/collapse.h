#pragma once
// Is the model collapsed? The paper's four collapses, judged without labels from embeddings and
// codes, each as a number without units, a threshold, a verdict and an advice in words.

#include <ATen/core/Tensor.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cplearn/eval/code_usage.h"
#include "cplearn/eval/contingency.h"

namespace cpl {

enum class Verdict { kHealthy, kWarning, kCollapsed, kUnknown };
const char* verdict_name(Verdict verdict);  // "healthy", "warning", "collapsed", "unknown"

struct Finding {
  const char* name;  // "representation", "dimensional", "cluster", "intracluster"
  double value = 0;
  double threshold = 0;  // under this it is collapsed
  Verdict verdict = Verdict::kUnknown;
  std::string words = {};   // what the value means here
  std::string advice = {};  // what to change; empty when healthy
};

// Healthy above `warning`, collapsed under `collapsed`.
struct Limits {
  double collapsed, warning;
};

struct CollapseOptions {
  // Root mean square deviation from the mean embedding / root mean square length: 0 for a constant,
  // 1 for centred embeddings.
  Limits representation{0.05, 0.1};
  // Effective rank (RankMe, centred) as a share of min(n - 1, d); see also `rank_caps`: wide
  // embeddings need not use all their directions.
  Limits dimensional{0.05, 0.1};
  Limits rank_caps{20, 40};
  // Share of directions in use (singular values above 1/1000 of the largest): embeddings that lie
  // exactly in a small subspace, however round they are in it.
  Limits directions{0.1, 0.5};
  // Entropy of code usage / log min(n, codes): 0 for one code, 1 for all equally often, 0.5 for
  // the square root of their number.
  Limits cluster{0.5, 0.7};
  // Variance within codes / total variance, both unbiased: 0 for points on their centres, 1 for
  // codes that have nothing to do with the embeddings.
  Limits intracluster{0.01, 0.05};
  // Mutual information between point and code / its limit: 0 for probabilities that do not depend
  // on the point. Judged twice: what a code tells about the point itself, and what it tells about
  // another view of it (ViewAgreement), without which codes are noise, however diverse.
  Limits information{0.01, 0.05};
  // What a code tells about another view / what it told before training. Random networks keep much
  // of an image; a training that leaves less of it is on its way to none (beta = 0, for which
  // uniform codes are as good as any). Few runs stand behind the limits: on CIFAR-10, 188 steps,
  // beta = 0 came to 0.18, and beta = 0.1, whose codes first spread and then agree, to 0.62.
  Limits over_untrained{0.5, 1};
  bool has_beta = true;    // whether advice may speak of it: not every method has a beta
  std::uint64_t seed = 0;  // of the k-means that replaces missing codes
};

// What a code tells about another view of its image (ViewAgreement), in nats.
struct Agreement {
  double nats;
  std::optional<double> untrained = {};  // the same for the network before its training
};

struct CollapseReport {
  Finding representation, dimensional, cluster, intracluster;
  Verdict verdict = Verdict::kUnknown;  // the worst of those that are known
  std::string summary;                  // one sentence

  std::array<const Finding*, 4> findings() const {
    return {&representation, &dimensional, &cluster, &intracluster};
  }
};

// `embeddings`: n x d. `codes`: the code of each point, or empty when there are none (embeddings
// from another tool): then clusters are found by k-means, and cluster collapse is unknown.
// `usage`: the codes' probabilities over the same points, or null; CodeUsage of the hard codes
// does. `agreement`: if there are two views. Constant
// embeddings leave the other three unknown: there is nothing left to measure.
CollapseReport diagnose_collapse(const at::Tensor& embeddings, const Labels& codes,
                                 const CodeUsage* usage, const std::optional<Agreement>& agreement,
                                 const CollapseOptions& options);

// Unbiased variance within groups of at least two points / unbiased total variance; -1 when no
// group has two points, and 0 when nothing varies.
double within_share(const at::Tensor& embeddings, const Labels& groups);

}  // namespace cpl
