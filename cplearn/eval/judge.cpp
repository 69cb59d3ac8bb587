#include "cplearn/eval/judge.h"

#include <algorithm>
#include <cmath>

#include "cplearn/base/table.h"

namespace cpl {
namespace {

Verdict verdict_of(double value, const Limits& limits) {
  if (std::isnan(value)) return Verdict::kUnknown;
  if (value < limits.collapsed) return Verdict::kCollapsed;
  return value < limits.warning ? Verdict::kWarning : Verdict::kHealthy;
}

// Unknown < healthy < warning < collapsed.
bool is_worse(Verdict a, Verdict b) {
  const auto order = [](Verdict v) { return v == Verdict::kUnknown ? -1 : static_cast<int>(v); };
  return order(a) > order(b);
}

// The measure that decides is the one that is reported.
void consider(Finding& finding, double value, const Limits& limits, const std::string& words) {
  const Verdict verdict = verdict_of(value, limits);
  if (!is_worse(verdict, finding.verdict)) return;
  finding = {finding.name, value, limits.collapsed, verdict, words};
}

std::string percent(double share) { return readable(100 * share) + " %"; }

// The most that can be told apart, in nats: by so many codes, of so many images, in so many
// directions. A ball of r dimensions holds at most 3^r points that are a radius apart; r is taken
// from the untrained network, so that what a training loses does not excuse it.
double most_nats(const VitalSigns& now, const VitalSigns* before) {
  const double most = std::log(std::min(now.images, now.codes));
  const bool has_rank = before != nullptr && before->rank > 0;
  return has_rank ? std::min(most, before->rank * std::log(3.0)) : most;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  static constexpr const char* kNames[] = {"healthy", "warning", "collapsed", "unknown"};
  return kNames[static_cast<int>(verdict)];
}

std::string verdict_record(const Judgement& judgement) {
  // Runs with that verdict; `worse`: by more than 0.01 than their untrained network, by the linear
  // probe or by nearest neighbours; `fine`: worse in neither.
  struct Record {
    int runs, worse, fine;
  };
  static constexpr Record kHealthy{31, 6, 18}, kDoubtful{3, 3, 0}, kDirectionsLost{26, 26, 0},
      kCodesLost{7, 3, 0};
  if (judgement.verdict == Verdict::kUnknown) return "";
  const bool directions_lost = judgement.dimensional.verdict == Verdict::kCollapsed;
  const Record& r = judgement.verdict == Verdict::kHealthy   ? kHealthy
                    : judgement.verdict == Verdict::kWarning ? kDoubtful
                    : directions_lost                        ? kDirectionsLost
                                                             : kCodesLost;
  return str("of ", r.runs, " test runs with this verdict, ", r.worse,
             " were worse than their untrained network, ", r.fine, " were not, ",
             r.runs - r.worse - r.fine, " were too close to call");
}

std::string Judgement::summary() const {
  const auto named = [&](Verdict wanted) {
    std::string names;
    for (const Finding* finding : findings())
      if (finding->verdict == wanted) names += str(names.empty() ? "" : ", ", finding->name);
    return names;
  };
  switch (verdict) {
    case Verdict::kCollapsed:
      return "collapsed: " + named(Verdict::kCollapsed);
    case Verdict::kWarning:
      return "doubtful: " + named(Verdict::kWarning);
    case Verdict::kHealthy:
      return "healthy";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

Judgement judge(const VitalSigns& now, const VitalSigns* before, const JudgeLimits& limits) {
  Judgement result;
  consider(result.representation, now.deviation, limits.deviation,
           str("representations deviate from their mean by ", percent(now.deviation),
               " of their length"));
  consider(result.representation, now.embedding_deviation, limits.deviation,
           str("embeddings deviate from their mean by ", percent(now.embedding_deviation),
               " of their length"));
  const double most = most_nats(now, before);
  const bool has_codes = now.codes > 1 && most > 0;
  // Few codes can tell little: that is the cluster collapse, and named so.
  if (has_codes && std::log(now.used) >= limits.used.collapsed * most)
    consider(result.representation, now.information / most, limits.information,
             str("codes tell ", readable(now.information), " of ", readable(most),
                 " nats about their image"));
  if (before != nullptr && before->rank > 0) {
    consider(result.dimensional, now.rank / std::min(before->rank, limits.enough_rank),
             limits.rank_ratio,
             str("representations have rank ", readable(now.rank), " of ", readable(now.width),
                 ", before training ", readable(before->rank)));
  } else {
    consider(result.dimensional, now.rank, limits.rank,
             str("rank ", readable(now.rank), " of ", readable(now.width)));
  }
  if (has_codes) {
    consider(result.cluster, std::log(now.used) / most, limits.used,
             str(readable(now.used), " codes in use in effect, of ", readable(std::exp(most)),
                 " possible"));
    consider(result.intracluster, now.within, limits.within,
             str(percent(now.within), " of the variance of representations is within codes"));
  }
  for (const Finding* finding : result.findings())
    if (is_worse(finding->verdict, result.verdict)) result.verdict = finding->verdict;
  return result;
}

}  // namespace cpl
