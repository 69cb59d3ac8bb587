#include "cplearn/eval/collapse.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/base/table.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/measures.h"
#include "cplearn/eval/spectrum.h"

namespace cpl {
namespace {

Verdict judge(double value, const Limits& limits) {
  if (value < limits.collapsed) return Verdict::kCollapsed;
  return value < limits.warning ? Verdict::kWarning : Verdict::kHealthy;
}

// Unknown < healthy < warning < collapsed.
Verdict worse(Verdict a, Verdict b) {
  const auto rank = [](Verdict v) { return v == Verdict::kUnknown ? -1 : static_cast<int>(v); };
  return rank(a) < rank(b) ? b : a;
}

std::string percent(double share) { return readable(100 * share) + " %"; }

Finding representation_finding(double deviation, const CodeUsage* usage,
                               const std::optional<Agreement>& agreement,
                               const CollapseOptions& options) {
  Finding finding{"representation"};
  finding.value = deviation;
  finding.threshold = options.representation.collapsed;
  finding.verdict = judge(finding.value, options.representation);
  finding.words =
      "embeddings deviate from their mean by " + percent(finding.value) + " of their length";
  const auto if_beta = [&](const char* words) { return options.has_beta ? words : ""; };
  finding.advice =
      str("every image gets nearly the same output: ", if_beta("raise beta (0.25 to 1), "),
          "lower the learning rate, and check that the data is not constant and the augmentation "
          "not destructive");
  // The measure that decides is the one that is reported. Few codes can tell little: that is
  // cluster collapse instead.
  const double limit = usage != nullptr ? usage->information_limit() : 0;
  if (limit > 0 && usage->entropy() >= options.cluster.collapsed * limit) {
    const auto consider = [&](double value, const Limits& limits, const std::string& words,
                              const std::string& advice) {
      const Verdict verdict = judge(value, limits);
      if (worse(finding.verdict, verdict) == finding.verdict) return;
      finding = {finding.name, value, limits.collapsed, verdict, words, advice};
    };
    const std::string of_limit = " of " + readable(limit) + " nats)";
    consider(
        usage->information() / limit, options.information,
        "code probabilities hardly depend on the image (" + readable(usage->information()) +
            of_limit,
        str("codes are nearly uniform for every image: train longer, or raise the learning rate",
            if_beta(" or beta (0.25 to 1)")));
    const std::string disagree =
        str("nothing holds the views of an image together: ",
            if_beta("raise beta (0.25 to 1; at 0 the loss ignores views), "),
            "train longer, or augment less");
    if (agreement)
      consider(agreement->nats / limit, options.information,
               "two views of an image hardly agree on its codes (" + readable(agreement->nats) +
                   of_limit,
               disagree);
    if (agreement && agreement->untrained.value_or(0) > 0)
      consider(agreement->nats / *agreement->untrained, options.over_untrained,
               "a code tells " + readable(agreement->nats) + " nats about another view, before " +
                   "training it told " + readable(*agreement->untrained),
               disagree);
  }
  if (finding.verdict == Verdict::kHealthy) finding.advice.clear();
  return finding;
}

Finding dimensional_finding(const at::Tensor& x, bool has_codes, const CollapseOptions& options) {
  const std::vector<double> spectrum = covariance_spectrum(x, true);
  const auto room = static_cast<double>(std::min(x.size(0) - 1, x.size(1)));
  const double rank = effective_rank(spectrum);
  const double share = static_cast<double>(directions_in_use(spectrum)) / room;
  const Limits limits{std::min(options.dimensional.collapsed * room, options.rank_caps.collapsed),
                      std::min(options.dimensional.warning * room, options.rank_caps.warning)};
  Finding finding{"dimensional"};
  finding.value = rank;
  finding.threshold = limits.collapsed;
  finding.verdict = worse(judge(rank, limits), judge(share, options.directions));
  finding.words = "effective rank " + readable(rank) + " of " + readable(room) + "; " +
                  percent(share) + " of the directions are in use";
  if (finding.verdict != Verdict::kHealthy)
    finding.advice = str(
        "embeddings lie in a small subspace: ", has_codes ? "use more codes than dimensions, " : "",
        options.has_beta ? "the theory scale, beta between 0.25 and 0.5, " : "",
        has_codes ? "or " : "", "train longer");
  return finding;
}

Finding cluster_finding(const CodeUsage* usage, const CollapseOptions& options) {
  Finding finding{"cluster"};
  finding.threshold = options.cluster.collapsed;
  if (usage == nullptr || usage->information_limit() <= 0) {
    finding.words = "no codes were given, or only one code or point";
    return finding;
  }
  finding.value = usage->entropy() / usage->information_limit();
  finding.verdict = judge(finding.value, options.cluster);
  finding.words = readable(usage->perplexity()) + " codes in use in effect, of " +
                  readable(std::exp(usage->information_limit())) + " possible";
  if (finding.verdict != Verdict::kHealthy)
    finding.advice = str("few codes take all images: ",
                         options.has_beta ? "lower beta (it outweighs the prior), " : "",
                         "enlarge the batch, or ask for fewer codes");
  return finding;
}

Finding intracluster_finding(const at::Tensor& x, const Labels& codes,
                             const CollapseOptions& options) {
  Finding finding{"intracluster"};
  finding.threshold = options.intracluster.collapsed;
  std::string groups = "codes";
  double share = codes.empty() ? -1 : within_share(x, codes);
  if (share < 0) {  // no codes, or each with a single point
    KMeansOptions kmeans_options;
    kmeans_options.clusters = std::clamp<std::int64_t>(x.size(0) / 10, 1, 100);
    kmeans_options.restarts = 1;
    kmeans_options.seed = options.seed;
    share = within_share(x, kmeans(x, kmeans_options).labels);
    groups = "clusters found by k-means";
  }
  finding.value = std::max(share, 0.0);
  finding.verdict = share < 0 ? Verdict::kUnknown : judge(share, options.intracluster);
  finding.words = percent(finding.value) + " of the variance is within " + groups;
  if (finding.verdict == Verdict::kWarning || finding.verdict == Verdict::kCollapsed)
    finding.advice =
        codes.empty()
            ? "images of one cluster have the same embedding: train longer, or augment less"
            : str("images of one code have the same embedding: use more codes, so that "
                  "each holds fewer images",
                  options.has_beta ? ", or lower beta" : "");
  return finding;
}

std::string summarise(const CollapseReport& report) {
  const auto named = [&](Verdict verdict) {
    std::string names;
    for (const Finding* finding : report.findings())
      if (finding->verdict == verdict)
        names += (names.empty() ? "" : ", ") + std::string(finding->name);
    return names;
  };
  switch (report.verdict) {
    case Verdict::kCollapsed:
      return "collapsed: " + named(Verdict::kCollapsed);
    case Verdict::kWarning:
      return "not collapsed, but near it: " + named(Verdict::kWarning);
    case Verdict::kHealthy:
      return "no sign of collapse";
    case Verdict::kUnknown:
      break;
  }
  return "nothing could be judged";
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  static constexpr const char* kNames[] = {"healthy", "warning", "collapsed", "unknown"};
  return kNames[static_cast<int>(verdict)];
}

double within_share(const at::Tensor& embeddings, const Labels& groups) {
  CPL_CHECK(embeddings.dim() == 2 && embeddings.size(0) == static_cast<std::int64_t>(groups.size()),
            "needs one group per embedding, got ", groups.size(), " for ", embeddings.sizes());
  const at::NoGradGuard no_grad;
  Labels known;
  const at::Tensor index = torch::tensor(compact_labels(groups, &known));
  const at::Tensor sizes = torch::bincount(index).to(at::kDouble);
  const at::Tensor x = embeddings.to(at::kCPU, at::kDouble);
  const at::Tensor centred = x - x.mean(0);
  const at::Tensor means = at::zeros({sizes.size(0), x.size(1)}, x.options())
                               .index_add_(0, index, centred)
                               .div_(sizes.unsqueeze(1));
  const double within = (centred - means.index_select(0, index)).square().sum().item<double>();
  // A group of one adds nothing to `within` and nothing here.
  const double freedom = static_cast<double>(x.size(0) - sizes.size(0));
  if (freedom < 1) return -1;
  const double total = centred.square().sum().item<double>();
  return total > 0 ? within / freedom * static_cast<double>(x.size(0) - 1) / total : 0.0;
}

CollapseReport diagnose_collapse(const at::Tensor& embeddings, const Labels& codes,
                                 const CodeUsage* usage, const std::optional<Agreement>& agreement,
                                 const CollapseOptions& options) {
  CPL_CHECK(embeddings.dim() == 2 && embeddings.size(0) >= 2,
            "a diagnosis needs at least 2 embeddings as n x d, got ", embeddings.sizes());
  CPL_CHECK(codes.empty() || static_cast<std::int64_t>(codes.size()) == embeddings.size(0),
            "a diagnosis needs one code per embedding, got ", codes.size(), " for ",
            embeddings.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor x = embeddings.to(at::kCPU, at::kDouble);
  CPL_CHECK(x.isfinite().all().item<bool>(),
            "embeddings contain NaN or infinity; the model has diverged: lower the learning rate ",
            "or resume from an earlier checkpoint");
  CollapseReport report;
  const double deviation = deviation_share(x);
  report.representation = representation_finding(deviation, usage, agreement, options);
  if (deviation < options.representation.collapsed) {
    const std::string words = "hidden by the representation collapse";
    report.dimensional = {"dimensional", 0, 0, Verdict::kUnknown, words, ""};
    report.cluster = {"cluster", 0, 0, Verdict::kUnknown, words, ""};
    report.intracluster = {"intracluster", 0, 0, Verdict::kUnknown, words, ""};
  } else {
    report.dimensional = dimensional_finding(x, !codes.empty(), options);
    // What points are assigned to, where known: soft probabilities hide that few codes ever win.
    CodeUsage assigned(usage != nullptr ? usage->codes() : 1);
    if (usage != nullptr && !codes.empty()) assigned.add(codes);
    report.cluster = cluster_finding(assigned.points() > 0 ? &assigned : usage, options);
    report.intracluster = intracluster_finding(x, codes, options);
  }
  for (const Finding* finding : report.findings())
    report.verdict = worse(report.verdict, finding->verdict);
  report.summary = summarise(report);
  return report;
}

}  // namespace cpl
