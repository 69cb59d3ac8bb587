#pragma once
// Gaussian mixture with diagonal covariances, and its entropy: the paper's measure of intracluster
// collapse (the entropy of embeddings falls to minus infinity when clusters become points).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cpl {

struct MixtureOptions {
  std::int64_t components = 10;
  int max_iterations = 100;
  double tolerance = 1e-3;  // stops when the mean log-likelihood gains less, in nats
  double floor = 1e-6;      // added to each variance, as scikit-learn's reg_covar
  std::uint64_t seed = 0;   // of the k-means it starts from
};

struct Mixture {
  std::int64_t components = 0, width = 0;
  std::vector<double> weights;           // k
  std::vector<double> means, variances;  // k x d
  double log_likelihood = 0;             // mean over the points it was fitted to, nats
  int iterations = 0;
  bool converged = false;
};

// `points`: n x d, any floating type. Expectation-maximisation from k-means.
Mixture fit_mixture(const at::Tensor& points, const MixtureOptions& options);

// log p(x) of each row, nats, in double.
std::vector<double> log_density(const Mixture& mixture, const at::Tensor& points);

struct Entropy {
  double nats;
  double standard_error;  // of the Monte Carlo mean
};
// -E log p by `samples` draws from the mixture. Divide by the width to compare widths.
Entropy mixture_entropy(const Mixture& mixture, std::int64_t samples, std::uint64_t seed);

// Draws, samples x d, float.
at::Tensor sample_mixture(const Mixture& mixture, std::int64_t samples, std::uint64_t seed);

}  // namespace cpl
