#pragma once
// Linear classifiers on frozen features: how much of the classes is linearly readable.

#include <ATen/core/Tensor.h>

#include "cplearn/eval/contingency.h"

namespace cpl {

struct LinearProbe {
  at::Tensor weight;      // classes x d, for the features as given
  at::Tensor bias;        // classes
  double train_loss = 0;  // mean cross-entropy, without the penalty
  int iterations = 0;
  bool converged = false;

  // n x classes.
  at::Tensor scores(const at::Tensor& features) const;
};

struct LogisticProbeOptions {
  // minimises sum of cross-entropies + l2 / 2 |weight|^2 (scikit-learn's C is 1 / l2); the bias is
  // free. The penalty is on the weights of standardised features when `standardise` is set.
  double l2 = 1;
  bool standardise = true;
  int max_iterations = 500;
  double tolerance = 1e-6;  // mean loss above the minimum, in nats
};

// Multinomial logistic regression to convergence: no learning rate, nothing random. L-BFGS on one
// pass over the features per evaluation, preconditioned by Boehning's bound on the Hessian (1992),
// 1/2 X'X, which spares most of the iterations.
// `features`: n x d, any floating type. `labels`: n, in [0, classes).
LinearProbe fit_logistic_probe(const at::Tensor& features, const Labels& labels,
                               std::int64_t classes, const LogisticProbeOptions& options);

// The paper's: Adam(0.9, 0.999) on raw features, no weight decay, constant learning rate.
struct AdamProbeOptions {
  double lr = 1e-2;
  int epochs = 100;
  std::int64_t batch = 64;
  bool standardise = false;
  std::uint64_t seed = 0;
};

LinearProbe fit_adam_probe(const at::Tensor& features, const Labels& labels, std::int64_t classes,
                           const AdamProbeOptions& options);

}  // namespace cpl
