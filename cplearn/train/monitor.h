#pragma once
// Watches a training for the four collapses, without labels and almost for free: running means of
// what the loss computes anyway, and a few hundred recent representations.
//
//   representation  codes say nothing about the image that survives
//                   augmentation:                                       agreement <= 0
//   cluster         few codes share all images:                         usage -> 1
//   dimensional     embeddings fill few dimensions:                     rank -> 1
//   intracluster    the images of a code become one point:              spread -> 0

#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/ssl/method.h"

namespace cpl {

// NaN where a method has no codes, or where there was too little to tell.
struct Vitals {
  double information;  // I(image; code) = H(mean p) - mean H(p), in nats
  double usage;        // exp H(mean p): codes in use, of `codes`
  double rank;         // exp of the entropy of the embeddings' singular values (RankMe), centred
  double spread;       // variance of representations within codes / their whole variance
  double agreement;  // H(mean p) - invariance, in nats: a lower bound on what one view's code tells
                     // about the other view. 0 when everything is uniform or one code
  double loss_ratio;  // loss / ln c. Collapses cost beta (all uniform) or 1 (all one code)
  double steps;       // seen so far
  double width;       // of the embeddings
};

struct Health {
  bool collapsed = false;
  std::string verdict;              // "healthy", "collapsed: dimensional, cluster"
  std::vector<std::string> advice;  // a sentence for each collapse: what, how much, what to change
};

// A pure function of the numbers. `codes` 0, `beta` -1: the method has none.
Health judge(const Vitals& vitals, std::int64_t codes, double beta);

// exp of the entropy of the singular values of the centred rows (n x d).
double effective_rank(const at::Tensor& rows);

// Within-group variance over whole variance, over groups of at least two rows; NaN if there are
// none. rows: n x d, group: n.
double within_spread(const at::Tensor& rows, const at::Tensor& group);

// A module, so that its state is saved like any other.
class Monitor : public torch::nn::Module {
 public:
  Monitor(std::int64_t features, std::int64_t codes);

  void observe(const StepResult& result, double loss);

  // Uses the method in evaluation mode for a moment; changes nothing in it.
  Vitals vitals(Method& method);

 private:
  at::Tensor usage_;    // c, double: running mean of the codes' probabilities
  at::Tensor means_;    // entropy, loss, invariance; double
  at::Tensor count_;    // steps observed
  at::Tensor recent_;   // rows x features: the latest representations
  at::Tensor written_;  // rows ever written
};

}  // namespace cpl
