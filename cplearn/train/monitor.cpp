#include "cplearn/train/monitor.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "cplearn/base/table.h"

namespace cpl {
namespace {

constexpr std::int64_t kRecent = 512;  // representations kept
constexpr double kHorizon = 50;        // steps that running means look back
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Chosen with a handful of small healthy and collapsed runs, not yet with long ones: healthy ones
// stay several times above, collapsed ones fall far below.
constexpr double kLeastInformation = 0.1;  // nats
constexpr double kLeastAgreement = 0.05;   // nats
constexpr double kFirstSteps = 200;        // in which agreement and usage are not judged
constexpr double kLeastRank = 1.5;
constexpr double kLeastSpread = 1e-4;

// Half of the entropy that is possible, as eval/collapse.h judges; but a running mean over some
// thousand images cannot be asked for more codes than that.
double least_usage(std::int64_t codes) {
  return std::sqrt(std::min(static_cast<double>(codes), 1024.0));
}

}  // namespace

double effective_rank(const at::Tensor& rows) {
  const at::Tensor x = (rows - rows.mean(0)).to(at::kDouble);
  const at::Tensor gram = x.size(0) < x.size(1) ? x.matmul(x.t()) : x.t().matmul(x);
  at::Tensor values = at::linalg_eigvalsh(gram).clamp_min(0).sqrt();
  const double sum = values.sum().item<double>();
  if (!(sum > 1e-12 * static_cast<double>(x.size(0)))) return 1;
  values = values / sum;
  return std::exp(-(values * (values + 1e-300).log()).sum().item<double>());
}

double within_spread(const at::Tensor& rows, const at::Tensor& group) {
  const at::Tensor x = rows.to(at::kDouble);
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> members;
  for (std::int64_t i = 0; i < group.size(0); ++i)
    members[group[i].item<std::int64_t>()].push_back(i);
  // Unbiased: a group of m points has m - 1 degrees of freedom around its own mean.
  double within = 0, degrees = 0;
  for (const auto& [code, indices] : members) {
    if (indices.size() < 2) continue;
    const at::Tensor part = x.index_select(0, at::tensor(indices, at::kLong));
    within += (part - part.mean(0)).pow(2).sum().item<double>();
    degrees += static_cast<double>(indices.size() - 1);
  }
  const double whole =
      (x - x.mean(0)).pow(2).sum().item<double>() / static_cast<double>(x.size(0) - 1);
  return degrees > 0 && whole > 0 ? within / degrees / whole : kUnknown;
}

Health judge(const Vitals& v, std::int64_t codes, double beta) {
  Health health;
  std::string names;
  const auto collapse = [&](const char* name, const std::string& words) {
    names += str(names.empty() ? "" : ", ", name);
    health.advice.push_back(words);
  };
  const bool has_codes = codes > 1;
  const bool uniform = v.usage > 2;  // otherwise all images share one code
  const bool blind = v.information < kLeastInformation;
  const bool begun = v.steps >= kFirstSteps;
  const bool disagree = begun && v.agreement < kLeastAgreement;
  if (has_codes && (blind || disagree)) {
    collapse(
        "representation",
        str(blind ? "every image gets the same codes ("
                  : "two views of an image do not agree "
                    "on its codes (",
            readable(v.information), " nats of information, ", readable(v.agreement),
            " shared by views, loss ", readable(v.loss_ratio), " ln c): ",
            beta == 0  ? "beta is 0, so nothing ties the views together; use --beta 0.4"
            : beta < 0 ? "train longer, use milder augmentation (--augment resnet8) or another --lr"
            : uniform && beta <= 1
                ? "train longer, use milder augmentation (--augment resnet8) or another --lr, "
                  "or raise --beta up to 1"
                : "lower --beta (0.25 to 0.4 serve well), or use a larger --batch"));
  }
  if (has_codes && begun && v.usage < least_usage(codes)) {
    collapse("cluster", str("all images share ", readable(v.usage), " of ", codes,
                            " codes: ", beta < 0 ? "" : "lower --beta, ",
                            "use a larger --batch, or a lower --lr"));
  }
  if (v.width > 2 && v.rank < kLeastRank) {
    collapse("dimensional", str("embeddings fill ", readable(v.rank), " of ", readable(v.width),
                                " dimensions: use ", beta < 0 ? "" : "--scale theory, ",
                                "a lower --lr, or stronger augmentation"));
  }
  if (has_codes && v.spread < kLeastSpread) {
    collapse("intracluster",
             str("the images of a code have become one point (", readable(v.spread),
                 " of the variance): use more --codes", beta < 0 ? "" : ", or a lower --beta"));
  }
  health.collapsed = !names.empty();
  health.verdict = names.empty() ? "healthy" : "collapsed: " + names;
  return health;
}

Monitor::Monitor(std::int64_t features, std::int64_t codes)
    : usage_(register_buffer("usage", at::zeros({codes}, at::kDouble))),
      means_(register_buffer("means", at::zeros({3}, at::kDouble))),
      count_(register_buffer("count", at::zeros({}, at::kLong))),
      recent_(register_buffer("recent", at::zeros({kRecent, features}))),
      written_(register_buffer("written", at::zeros({}, at::kLong))) {}

void Monitor::observe(const StepResult& result, double loss) {
  const at::NoGradGuard no_grad;
  const double count = count_.item<double>();
  const double weight = std::max(1 / (count + 1), 1 / kHorizon);  // a plain mean at first
  count_ += 1;
  if (result.usage.defined()) usage_.lerp_(result.usage.to(usage_.options()), weight);
  means_.lerp_(at::tensor({result.entropy, loss, result.cross_entropy}, at::kDouble), weight);

  const at::Tensor rows = result.representations.to(recent_.options());
  const std::int64_t n = std::min(rows.size(0), kRecent);
  const std::int64_t begin = written_.item<std::int64_t>() % kRecent;
  const std::int64_t first = std::min(n, kRecent - begin);  // then around to the beginning
  recent_.narrow(0, begin, first).copy_(rows.narrow(0, 0, first));
  if (n > first) recent_.narrow(0, 0, n - first).copy_(rows.narrow(0, first, n - first));
  written_ += n;
}

Vitals Monitor::vitals(Method& method) {
  const at::NoGradGuard no_grad;
  Vitals v{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, count_.item<double>(),
           kUnknown};
  const bool has_codes = usage_.numel() > 0;
  if (has_codes) {
    const double entropy = -(usage_ * (usage_ + 1e-300).log()).sum().item<double>();
    v.information = std::max(0.0, entropy - means_[0].item<double>());
    v.usage = std::exp(entropy);
    v.agreement = entropy - means_[2].item<double>();
    v.loss_ratio = means_[1].item<double>() /
                   std::log(static_cast<double>(std::max<std::int64_t>(2, usage_.numel())));
  }
  const at::Tensor z = recent_.narrow(0, 0, std::min(kRecent, written_.item<std::int64_t>()));
  if (z.size(0) < 2) return v;
  const bool was_training = method.is_training();
  method.eval();
  const at::Device device = method.parameters().front().device();
  const at::Tensor embeddings = method.embed(z.to(device)).cpu();
  v.rank = effective_rank(embeddings);
  v.width = static_cast<double>(embeddings.size(1));
  if (has_codes) v.spread = within_spread(z, method.assign(z.to(device)).code.cpu());
  method.train(was_training);
  return v;
}

}  // namespace cpl
