#include "cplearn/eval/linear_probe.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/column_means.h"
#include "cplearn/eval/lbfgs.h"
#include "cplearn/eval/row_sample.h"
#include "cplearn/nn/product.h"
#include "cplearn/simd/softmax_kernel.h"

namespace cpl {
namespace {

// Features shifted and scaled, and how to undo it in a classifier.
struct Standardised {
  at::Tensor rows;          // n x d, float
  at::Tensor shift, scale;  // d, double

  Standardised(const at::Tensor& features, bool centre, bool standardise) {
    CPL_CHECK(features.dim() == 2 && features.numel() > 0,
              "a linear probe needs features as n x d, got ", features.sizes());
    rows = features.to(at::kCPU, at::kFloat).contiguous();
    const at::Tensor mean = column_means(rows);
    // Sums of floats do not overflow a double: they are finite if all terms are.
    CPL_CHECK(mean.isfinite().all().item<bool>(),
              "a linear probe needs finite features, but some are NaN or infinite");
    // Of values that a float can hold: rows are shifted in float.
    shift = centre || standardise ? mean.to(at::kFloat).to(at::kDouble) : at::zeros_like(mean);
    scale = at::ones_like(mean);
    if (centre || standardise) rows = rows - shift.to(at::kFloat);
    if (standardise) {
      // Columns that do not vary are left alone: their deviation is rounding.
      const at::Tensor deviation = column_mean_squares(rows).sqrt();
      scale = at::where(deviation > 1e-6 * mean.abs() + 1e-12, deviation, scale);
      rows.mul_(scale.reciprocal().to(at::kFloat));
    }
  }

  LinearProbe undo(const at::Tensor& weight, const at::Tensor& bias) const {
    LinearProbe probe;
    const at::Tensor raw = weight.to(at::kDouble) / scale;
    probe.weight = raw.to(at::kFloat);
    probe.bias = (bias.to(at::kDouble) - at::matmul(raw, shift)).to(at::kFloat);
    return probe;
  }
};

// Turns logits (n x c, in place) into the gradient of the summed cross-entropy, softmax - one-hot;
// returns the sum. `labels`: n x 1.
double cross_entropy(at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor log_p = at::log_softmax(logits, 1);
  const double loss = -log_p.gather(1, labels).sum(at::kDouble).item<double>();
  logits = log_p.exp();
  logits.scatter_add_(1, labels, at::full_like(labels, -1, logits.options()));
  return loss;
}

}  // namespace

at::Tensor LinearProbe::scores(const at::Tensor& features) const {
  const at::NoGradGuard no_grad;
  return product(features.to(at::kCPU, at::kFloat), weight.t()).add_(bias);
}

// Added to the preconditioner's curvatures, so that its inverse in float stays positive definite
// when columns depend on each other.
constexpr double kLeastCurvature = 5e-4;

LinearProbe fit_logistic_probe(const at::Tensor& features, const Labels& labels,
                               std::int64_t classes, const LogisticProbeOptions& options) {
  CPL_CHECK(options.l2 > 0, "the logistic probe needs l2 > 0 (separable classes have no finite ",
            "solution without it), got ", options.l2);
  const at::NoGradGuard no_grad;
  // Centring changes nothing, since the bias is free, and makes the bias independent of the rest.
  const Standardised data(features, true, options.standardise);
  const std::int64_t n = data.rows.size(0), d = data.rows.size(1);
  label_tensor(labels, n, classes);  // checks them
  const std::int64_t width =
      (d + simd::kSoftmaxPadding - 1) / simd::kSoftmaxPadding * simd::kSoftmaxPadding;
  const at::Tensor rows = width == d ? data.rows : at::constant_pad_nd(data.rows, {0, width - d});
  const double per_row = 1.0 / static_cast<double>(n), penalty = options.l2 * per_row;

  // A preconditioner need not be exact: a sample of the rows will do.
  const std::int64_t stride = std::max<std::int64_t>(1, n / (4 * d));
  const at::Tensor sample = rows.index_select(0, torch::tensor(sample_rows(n, stride, 0)));
  const at::Tensor bound =
      (0.5 / static_cast<double>(sample.size(0)) * product(sample.t(), sample)).to(at::kDouble) +
      std::max(penalty, kLeastCurvature) * at::eye(width, at::kDouble);
  const at::Tensor inverse = at::cholesky_inverse(at::linalg_cholesky(bound)).to(at::kFloat);

  // Parameters: weight (c x width), then bias (c).
  std::vector<double> x(classes * (width + 1), 0.0);
  const auto weight_of = [&](const std::vector<double>& p) {
    return torch::from_blob(const_cast<double*>(p.data()), {classes, width}, at::kDouble);
  };
  const auto bias_of = [&](const std::vector<double>& p) {
    return torch::from_blob(const_cast<double*>(p.data()) + classes * width, {classes},
                            at::kDouble);
  };
  const auto penalty_of = [&](const at::Tensor& weight) {
    return 0.5 * penalty * weight.square().sum().item<double>();
  };
  const std::int64_t parts = std::min<std::int64_t>(at::get_num_threads(), n);
  const auto objective = [&](const std::vector<double>& p, std::vector<double>& gradient) {
    const std::vector<float> parameters(p.begin(), p.end());
    const float* bias = parameters.data() + classes * width;
    const simd::SoftmaxJob job{rows.data_ptr<float>(), labels.data(), width, classes,
                               parameters.data(),      bias};
    std::vector<std::vector<double>> gradients(parts, std::vector<double>(p.size(), 0.0));
    std::vector<double> losses(parts);
    at::parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) {
        double* to = gradients[part].data();
        losses[part] = simd::softmax_pass(job, n * part / parts, n * (part + 1) / parts, to,
                                          to + classes * width);
      }
    });
    const at::Tensor weight = weight_of(p);
    std::fill(gradient.begin(), gradient.end(), 0.0);
    double loss = penalty_of(weight);
    for (std::int64_t part = 0; part < parts; ++part) {
      loss += per_row * losses[part];
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += per_row * gradients[part][i];
    }
    weight_of(gradient).add_(weight, penalty);
    return loss;
  };
  const auto precondition = [&](std::vector<double>& gradient) {
    at::Tensor weight = weight_of(gradient);
    weight.copy_(product(weight.to(at::kFloat), inverse));
    bias_of(gradient).mul_(2);
  };

  LbfgsOptions lbfgs;
  lbfgs.max_iterations = options.max_iterations;
  lbfgs.tolerance = options.tolerance;
  const LbfgsResult result = minimise_lbfgs(x, objective, precondition, lbfgs);
  LinearProbe probe = data.undo(weight_of(x).narrow(1, 0, d), bias_of(x));
  probe.train_loss = result.value - penalty_of(weight_of(x));
  probe.iterations = result.iterations;
  probe.converged = result.converged;
  return probe;
}

LinearProbe fit_adam_probe(const at::Tensor& features, const Labels& labels, std::int64_t classes,
                           const AdamProbeOptions& options) {
  CPL_CHECK(options.batch >= 1 && options.epochs >= 1,
            "the Adam probe needs a batch and epochs of ", "at least 1, got ", options.batch,
            " and ", options.epochs);
  constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kAdamEpsilon = 1e-8f;
  const at::NoGradGuard no_grad;
  const Standardised data(features, false, options.standardise);
  const std::int64_t n = data.rows.size(0), d = data.rows.size(1);
  const at::Tensor target = label_tensor(labels, n, classes).unsqueeze(1);

  // weight and bias in one tensor, c x (d + 1), so that Adam is one loop; as nn::Linear starts.
  at::Tensor parameters = at::empty({classes, d + 1}, at::kFloat);
  float* p = parameters.data_ptr<float>();
  const std::int64_t size = parameters.numel();
  const float radius = 1.0f / std::sqrt(static_cast<float>(d));
  Random random(options.seed, Stream::kEval);
  for (std::int64_t i = 0; i < size; ++i) p[i] = random.uniform(-radius, radius);
  const at::Tensor weight = parameters.narrow(1, 0, d), bias = parameters.select(1, d);
  at::Tensor gradient = at::empty_like(parameters);
  std::vector<float> mean(size, 0), square(size, 0);

  Labels order(n);
  std::iota(order.begin(), order.end(), 0);
  double power1 = 1, power2 = 1, loss = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (std::int64_t i = n - 1; i > 0; --i)
      std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
    loss = 0;
    for (std::int64_t start = 0; start < n; start += options.batch) {
      const std::int64_t rows = std::min(options.batch, n - start);
      const at::Tensor index = torch::from_blob(order.data() + start, {rows}, at::kLong);
      const at::Tensor batch = data.rows.index_select(0, index);
      at::Tensor logits = product(batch, weight.t()).add_(bias);
      loss += cross_entropy(logits, target.index_select(0, index));
      logits.div_(rows);
      gradient.narrow(1, 0, d).copy_(product(logits.t(), batch));
      gradient.select(1, d).copy_(logits.sum(0));

      power1 *= kBeta1;
      power2 *= kBeta2;
      const auto step = static_cast<float>(options.lr / (1 - power1));
      const auto unbias = static_cast<float>(1 / std::sqrt(1 - power2));
      const float* g = gradient.data_ptr<float>();
      for (std::int64_t i = 0; i < size; ++i) {
        mean[i] += (1 - kBeta1) * (g[i] - mean[i]);
        square[i] += (1 - kBeta2) * (g[i] * g[i] - square[i]);
        p[i] -= step * mean[i] / (std::sqrt(square[i]) * unbias + kAdamEpsilon);
      }
    }
  }
  LinearProbe probe = data.undo(weight, bias);
  probe.train_loss = loss / static_cast<double>(n);
  probe.iterations = options.epochs;
  probe.converged = true;
  return probe;
}

}  // namespace cpl
