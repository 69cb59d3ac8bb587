#pragma once
// How much of what a code says about an image survives augmentation.

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cpl {

// Gathered batch by batch from the probabilities of two views of each image.
//
// The code C of one view is drawn from p. A guess q(C | other view) gives a lower bound on the
// mutual information between C and the other view, H(pbar) + E log q (Barber and Agakov, 2003). As
// guesses: (1 - s) p' + s pbar for a few shares s, where p' is the other view's own probability and
// pbar the mean over the data set. s = 0 gives the loss's own terms, H(pbar) - invariance, but
// sharp probabilities that sometimes disagree would push that far under 0; the best of a few
// mixtures measures agreement at any scale of the logits, and is never below 0.
class ViewAgreement {
 public:
  // `mean`: pbar over both views of the data set.
  explicit ViewAgreement(std::vector<double> mean);

  // n x codes each, logarithms of probabilities.
  void add(const at::Tensor& log_p0, const at::Tensor& log_p1);

  double cross_entropy() const;  // the loss's invariance, mean of both directions, nats
  double information() const;    // the bound, nats

 private:
  static constexpr std::array<double, 3> kMeanShare = {0.0, 0.1, 0.5};

  at::Tensor mean_;  // codes, float
  double entropy_ = 0;
  double rows_ = 0;
  std::array<double, kMeanShare.size()> cross_{};  // sums over rows and directions
};

}  // namespace cpl
