#include "cplearn/eval/code_usage.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cplearn/base/error.h"
#include "cplearn/hdc/dictionary.h"

namespace cpl {
namespace {

double surprise(double p) { return p > 0 ? -p * std::log(p) : 0.0; }

// The prior term where `used` codes have probability p and the rest q.
double prior_of_two_levels(double used, double p, double rest, double q, bool reverse) {
  const double codes = used + rest;
  const double log_q = rest > 0 ? std::log(q) : 0.0;
  return reverse ? used * p * std::log(p * codes) +
                       (rest > 0 ? rest * q * (log_q + std::log(codes)) : 0.0)
                 : -(used * std::log(p) + rest * log_q) / codes;
}

}  // namespace

CodeUsage::CodeUsage(std::int64_t codes) {
  CPL_CHECK(codes >= 1, "code usage needs at least 1 code, got ", codes);
  mass_.assign(codes, 0.0);
}

void CodeUsage::add(const at::Tensor& probabilities) {
  CPL_CHECK(probabilities.dim() == 2 && probabilities.size(1) == codes(),
            "probabilities must be n x ", codes(), ", got ", probabilities.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor p = probabilities.to(at::kCPU, at::kDouble);
  const at::Tensor sums = p.sum(0).contiguous();
  for (std::int64_t j = 0; j < codes(); ++j) mass_[j] += sums.data_ptr<double>()[j];
  entropy_sum_ -= at::xlogy(p, p).sum().item<double>();
  points_ += p.size(0);
}

void CodeUsage::add(const Labels& assigned) {
  for (const std::int64_t code : assigned) {
    CPL_CHECK(code >= 0 && code < codes(), "codes must be between 0 and ", codes() - 1, ", got ",
              code);
    mass_[code] += 1;
  }
  points_ += static_cast<std::int64_t>(assigned.size());
}

std::vector<double> CodeUsage::mean() const {
  CPL_CHECK(points_ > 0, "code usage of no points; add some first");
  std::vector<double> mean = mass_;
  for (double& p : mean) p /= static_cast<double>(points_);
  return mean;
}

double CodeUsage::entropy() const {
  double sum = 0;
  for (const double p : mean()) sum += surprise(p);
  return sum;
}

double CodeUsage::mean_entropy() const { return entropy_sum_ / static_cast<double>(points_); }
double CodeUsage::perplexity() const { return std::exp(entropy()); }
double CodeUsage::information() const { return std::max(entropy() - mean_entropy(), 0.0); }
double CodeUsage::information_limit() const {
  return std::log(static_cast<double>(std::min(points_, codes())));
}

Certificate certificate(const CodeUsage& usage, double invariance,
                        const CertificateOptions& options) {
  const auto c = static_cast<double>(usage.codes());
  const double rest = kEpsilon * (c - 1);
  CPL_CHECK(rest < 1, "codes must be under 1/eps = ", 1 / kEpsilon, ", got ", usage.codes());
  const double least_entropy = surprise(1 - rest) - rest * std::log(kEpsilon);

  double prior = 0;
  for (const double p : usage.mean()) {
    prior += options.reverse ? (p > 0 ? p * std::log(p * c) : 0.0)
                             : -std::log(std::max(p, std::numeric_limits<double>::min())) / c;
  }
  const double used = std::min(static_cast<double>(usage.points()), c);
  const double p = (1 - kEpsilon * (c - used)) / used;
  Certificate out;
  out.information = usage.information();
  out.information_limit = usage.information_limit();
  out.loss = options.beta * invariance + prior;
  out.bound = options.beta * least_entropy + (options.reverse ? 0.0 : std::log(c));
  out.attainable = options.beta * least_entropy +
                   prior_of_two_levels(used, p, c - used, kEpsilon, options.reverse);
  return out;
}

}  // namespace cpl
