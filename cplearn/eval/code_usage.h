#pragma once
// What the codes of a data set do, gathered batch by batch, and how near that is to the optimum.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cplearn/eval/contingency.h"

namespace cpl {

class CodeUsage {
 public:
  explicit CodeUsage(std::int64_t codes);

  void add(const at::Tensor& probabilities);  // n x codes, rows with the sum 1
  void add(const Labels& assigned);           // hard assignments: probability 1

  std::int64_t points() const { return points_; }
  std::int64_t codes() const { return static_cast<std::int64_t>(mass_.size()); }
  std::vector<double> mean() const;  // pbar
  double entropy() const;            // H(pbar), nats
  double mean_entropy() const;       // mean_i H(p_i), nats
  double perplexity() const;         // exp(H(pbar)): how many codes are in use, in effect
  // Mutual information between point and code, H(pbar) - mean_i H(p_i), in nats: at least
  // exp(information) codes are told apart. Between 0 and its limit, log min(points, codes).
  double information() const;
  double information_limit() const;

 private:
  std::int64_t points_ = 0;
  double entropy_sum_ = 0;
  std::vector<double> mass_;  // sum_i p_ij
};

// The paper's lemma over a data set: the loss cannot fall under `bound`, and reaching it excludes
// representation and cluster collapse. Fewer points than codes leave codes unused: then the least
// that one code per point gives is `attainable`, above the bound.
struct Certificate {
  double information, information_limit;
  double loss;        // beta * invariance + prior, over the data set
  double bound;       // for any number of points
  double attainable;  // for this number of points
};

struct CertificateOptions {
  double beta = 0.5;
  bool reverse = true;  // the prior's form: KL(pbar || uniform); otherwise Eq. 2's cross-entropy
};

// `invariance`: mean cross-entropy between the views; usage.mean_entropy() for views that agree.
Certificate certificate(const CodeUsage& usage, double invariance,
                        const CertificateOptions& options);

}  // namespace cpl
