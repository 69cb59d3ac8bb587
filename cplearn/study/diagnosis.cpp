#include "cplearn/study/diagnosis.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cplearn/base/error.h"
#include "cplearn/base/table.h"
#include "cplearn/eval/measures.h"
#include "cplearn/eval/mixture.h"
#include "cplearn/train/checkup.h"
#include "cplearn/train/remedy.h"

namespace cpl {
namespace {

constexpr std::int64_t kCovariance = 64, kAdjacency = 100;  // sides of the pictures
constexpr std::int64_t kSamples = 10000;                    // Monte Carlo, as in the paper
constexpr std::int64_t kPaddedWidth = 2048;
constexpr int kLidarViews = 10;

Spectrum spectrum_of(const at::Tensor& x) {
  Spectrum result;
  result.centred = covariance_spectrum(x, true);
  result.uncentred = covariance_spectrum(x, false);
  result.effective_rank = effective_rank(result.centred);
  result.power_law = power_law(result.centred);
  return result;
}

Measures measure(const at::Tensor& x, const Spectrum& spectrum, std::uint64_t seed) {
  Measures m;
  m.rankme = effective_rank(spectrum.uncentred);
  m.alpha = spectrum.power_law.alpha;
  m.nesum = spread_over_largest(spectrum.centred);
  m.self_cluster = self_cluster(x);
  if (x.size(0) >= 32) m.intrinsic_dimension = intrinsic_dimension(x, seed);
  return m;
}

Moments moments_of(const at::Tensor& x) {
  const at::Tensor rows = x.to(at::kDouble);
  return {rows.mean(0).abs().mean().item<double>(), rows.std(0, false).mean().item<double>()};
}

// `count` of 0 .. n-1, evenly spread.
at::Tensor evenly(std::int64_t n, std::int64_t count) {
  count = std::min(n, count);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(i * n / count);
  return torch::tensor(chosen, at::kLong);
}

at::Tensor covariance_picture(const at::Tensor& x) {
  const at::Tensor part = x.index_select(1, evenly(x.size(1), kCovariance)).to(at::kDouble);
  const at::Tensor centred = part - part.mean(0);
  return at::matmul(centred.t(), centred) / static_cast<double>(x.size(0));
}

// Cosines between images sorted by code, codes with most images first: blocks are codes.
at::Tensor adjacency_picture(const at::Tensor& x, const Labels& codes) {
  std::vector<std::int64_t> order(x.size(0));
  std::iota(order.begin(), order.end(), 0);
  if (!codes.empty()) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t code : codes) ++counts[code];
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const auto key = [&](std::int64_t i) {
        return std::make_tuple(-counts[codes[i]], codes[i], i);
      };
      return key(a) < key(b);
    });
  }
  const at::Tensor rows =
      x.index_select(0,
                     torch::tensor(order, at::kLong).index_select(0, evenly(x.size(0), kAdjacency)))
          .to(at::kDouble);
  const at::Tensor unit = rows / rows.norm(2, 1, true).clamp_min(1e-30);
  return at::matmul(unit, unit.t());
}

std::vector<std::int64_t> counts_of(const Labels& codes) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t code : codes) ++counts[code];
  std::vector<std::int64_t> result;
  for (const auto& [code, count] : counts) result.push_back(count);
  std::sort(result.rbegin(), result.rend());
  return result;
}

// Numerical rank: singular values of Z above rounding in float.
std::int64_t numerical_rank(const Spectrum& spectrum, std::int64_t n, std::int64_t width) {
  return directions_in_use(spectrum.uncentred,
                           static_cast<double>(std::max(n, width)) * 1.1920929e-7);
}

// Zeros appended to every point are independent of the rest: each adds the entropy of a normal
// distribution with the mixture's least variance, whatever the components. Exactly what fitting
// and sampling at full width would estimate.
EntropyCurve pad(EntropyCurve curve) {
  const double each = 0.5 * std::log(2 * M_PI * M_E * MixtureOptions().floor);
  const double extra = static_cast<double>(std::max<std::int64_t>(kPaddedWidth - curve.width, 0));
  for (double& nats : curve.nats) nats += extra * each;
  curve.width = std::max(curve.width, kPaddedWidth);
  return curve;
}

void describe_entropy(const std::vector<std::pair<std::string, at::Tensor>>& clouds,
                      const DiagnosisOptions& options, const DiagnosisProgress& progress,
                      Diagnosis& result) {
  const std::int64_t n = clouds.front().second.size(0);
  for (const std::int64_t k : {10, 20, 50, 100, 200, 500, 1000}) {
    if (k <= n && (options.full || k <= 200)) result.components.push_back(k);
  }
  // The work grows with the number of components.
  const auto work =
      std::accumulate(result.components.begin(), result.components.end(), std::int64_t{0});
  const auto total = static_cast<std::int64_t>(clouds.size()) * work;
  std::int64_t done = 0;
  progress("entropies", 0, total);
  for (const auto& [name, points] : clouds) {
    EntropyCurve curve;
    curve.width = points.size(1);
    for (const std::int64_t k : result.components) {
      MixtureOptions mixture;
      mixture.components = k;
      mixture.seed = options.seed;
      const Entropy entropy = mixture_entropy(fit_mixture(points, mixture), kSamples, options.seed);
      curve.nats.push_back(entropy.nats);
      curve.standard_error.push_back(entropy.standard_error);
      progress("entropies", done += k, total);
    }
    result.entropy.emplace_back(name, curve);
  }
  if (options.padded) result.entropy.emplace_back("padded", pad(result.entropy.back().second));
}

// What does not depend on there being a network. `clouds`: the last is the embedding.
void describe(const std::vector<std::pair<std::string, at::Tensor>>& clouds, const Labels& codes,
              const Labels& labels, const DiagnosisOptions& options,
              const DiagnosisProgress& progress, Diagnosis& result) {
  const at::Tensor& embeddings = clouds.back().second;
  result.images = embeddings.size(0);
  result.width = embeddings.size(1);
  for (const auto& [name, x] : clouds) {
    result.spectra.emplace_back(name, spectrum_of(x));
    result.measures.emplace_back(name, measure(x, result.spectra.back().second, options.seed));
  }
  result.covariance = covariance_picture(embeddings);
  result.covariance_of = embeddings.size(1);
  result.adjacency = adjacency_picture(embeddings, codes);
  result.adjacency_of = embeddings.size(0);
  result.usage = counts_of(codes);
  const at::Tensor& z = clouds.front().second;
  result.bound.rank = numerical_rank(result.spectra.front().second, z.size(0), z.size(1));
  result.bound.label_residual = label_residual(z, labels);
  if (options.entropy) describe_entropy(clouds, options, progress, result);
}

// Representations of two augmented views of every image.
struct ViewPair {
  at::Tensor z[2];  // n x features
};

ViewPair extract_views(Method& method, const Dataset& data, const AugmentOptions& augment,
                       const char* what, const DiagnosisProgress& progress) {
  const auto total = static_cast<std::int64_t>(data.size());
  std::int64_t done = 0;
  std::vector<at::Tensor> z[2];
  progress(what, 0, total);
  stream_features(method, data, augment, FeatureOptions(),
                  [&](const at::Tensor& rows, const Batch& batch) {
                    const auto n = static_cast<std::int64_t>(batch.size());
                    for (int v = 0; v < 2; ++v) z[v].push_back(rows.narrow(0, v * n, n));
                    progress(what, done += n, total);
                  });
  return {{torch::cat(z[0]), torch::cat(z[1])}};
}

std::string words_of(const Diagnosis& d, const std::string& method) {
  const Certificate& c = *d.certificate;
  const bool known = d.signs_before && !std::isnan(d.signs_before->agreement);
  return str(
      "a code tells ", readable(c.information), " of at most ", readable(c.information_limit),
      " nats about its image, and ", readable(d.signs.agreement), " about another view of it",
      known ? str(" (", readable(d.signs_before->agreement), " before training)") : "",
      "; the published loss over these images, ", readable(c.loss), ", is ",
      readable(c.loss - c.bound), " above its bound (a code of its own for each image would cost ",
      readable(c.attainable), ")", is_cplearn(method) ? "" : "; this method has another loss");
}

}  // namespace

std::optional<double> label_residual(const at::Tensor& z, const Labels& labels) {
  std::vector<std::int64_t> rows;
  Labels known;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    rows.push_back(static_cast<std::int64_t>(i));
    known.push_back(labels[i]);
  }
  if (rows.empty()) return std::nullopt;
  const at::NoGradGuard no_grad;
  const at::Tensor x = z.index_select(0, torch::tensor(rows, at::kLong)).to(at::kDouble);
  const at::Tensor y =
      torch::one_hot(torch::tensor(compact_labels(known), at::kLong)).to(at::kDouble);
  // With Z'Z = V L V', the part of Y that Z explains has the coordinates L^-1/2 V'Z'Y.
  const auto [values, vectors] = at::linalg_eigh(at::matmul(x.t(), x));
  const double largest = values.max().item<double>();
  const double rounding = static_cast<double>(std::max(x.size(0), x.size(1))) * 1.1920929e-7;
  const at::Tensor used = values > largest * rounding * rounding;
  const at::Tensor coordinates =
      at::matmul(vectors.t(), at::matmul(x.t(), y)) /
      at::where(used, values, at::full_like(values, INFINITY)).sqrt().unsqueeze(1);
  const auto m = static_cast<double>(rows.size());
  const double unexplained = m - coordinates.square().sum().item<double>();
  return std::sqrt(std::max(unexplained, 0.0) / m);
}

Diagnosis diagnose_run(Run& run, const Dataset& whole, const Dataset& data,
                       const Features& features, const DiagnosisOptions& options,
                       const DiagnosisProgress& progress) {
  const at::NoGradGuard no_grad;
  Method& method = *run.method;
  Diagnosis result;
  result.codes = method.codes();
  const Labels codes = features.code_list();
  AugmentOptions augment = resolve_augment(run.options, data.statistics());
  augment.normalisation = run.views.normalisation;
  progress("check-up", 0, 2);
  result.signs = check_up(method, whole, augment, run.options.seed);
  progress("check-up", 1, 2);
  if (options.untrained) result.signs_before = check_up_untrained(run.options, whole, augment);
  progress("check-up", 2, 2);
  result.judgement =
      judge(result.signs, result.signs_before ? &*result.signs_before : nullptr, JudgeLimits());
  result.remedy = remedy_words(remedies(run.options));

  augment.views.resize(2, augment.views.front());  // local crops are not compared
  const ViewPair views = extract_views(method, data, augment, "augmented views", progress);
  const std::int64_t rows = 2 * views.z[0].size(0);
  if (const auto found = compare_codes(method, views.z[0], views.z[1],
                                       [&](std::int64_t done) { progress("codes", done, rows); })) {
    const CodeHeadOptions& head = run.options.method_options.head;
    result.certificate = certificate(found->usage, found->cross_entropy,
                                     {head.beta, head.prior != PriorChoice::kForward});
    result.certificate_words = words_of(result, run.options.method);
  }
  const at::Tensor many = sample_views(method, whole, augment, kLidarViews, run.options.seed);
  result.statistics.emplace_back("representation", moments_of(features.representations));
  for (const auto& [name, values] : method.layers(features.representations))
    result.statistics.emplace_back(name, moments_of(values));
  result.statistics.emplace_back("embedding", moments_of(features.embeddings));
  result.bound.view_distance =
      (views.z[0] - views.z[1]).to(at::kDouble).norm(2, 1).mean().item<double>();
  describe({{"representation", features.representations}, {"embedding", features.embeddings}},
           codes, features.labels, options, progress, result);
  result.measures.front().second.lidar = lidar(many);
  result.measures.back().second.lidar =
      lidar(method.embed(many.flatten(0, 1)).view({many.size(0), many.size(1), -1}));
  return result;
}

Diagnosis diagnose_embeddings(const at::Tensor& embeddings, const Labels& labels,
                              const DiagnosisOptions& options, const DiagnosisProgress& progress) {
  const at::NoGradGuard no_grad;
  CPL_CHECK(embeddings.dim() == 2 && embeddings.size(0) >= 2,
            "a diagnosis needs at least 2 embeddings as n x d, got ", embeddings.sizes());
  Diagnosis result;
  result.signs = signs_of(embeddings);
  result.judgement = judge(result.signs, nullptr, JudgeLimits());
  result.statistics.emplace_back("embedding", moments_of(embeddings));
  describe({{"embedding", embeddings}}, {}, labels, options, progress, result);
  return result;
}

}  // namespace cpl
