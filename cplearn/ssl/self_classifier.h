#pragma once
// Self-Classifier: two views of an image should get the same class, with classes used equally often
// by construction: targets are softmax over the *images* of the batch, normalised per image;
// predictions are softmax over classes, normalised per class.
//
//   t_ij = a_ij / sum_j a_ij,  a = softmax over i of s' / T_column
//   r_ij = p_ij / sum_i p_ij,  p = softmax over j of s / T_row
//   loss = -mean_i sum_j t_ij log(n/c r_ij), both ways; no stop-gradient
//
// Amrani, Karlinsky, Bronstein, "Self-Supervised Classification Network", ECCV 2022.

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct SelfClassifierOptions {
  std::int64_t width = 128;
  double row_temperature = 0.1;
  double column_temperature = 0.05;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("self-classifier-width", width, "width of the embeddings", AtLeast{1});
    v("self-classifier-row-temperature", row_temperature, "of the predictions, over classes",
      Between{1e-4, 100});
    v("self-classifier-column-temperature", column_temperature, "of the targets, over images",
      Between{1e-4, 100});
  }
};

// s0, s1: n x c scores of the whole batch.
NamedLoss self_classifier_loss(const at::Tensor& s0, const at::Tensor& s1,
                               const SelfClassifierOptions& options);

extern const MethodRow kSelfClassifier;

}  // namespace cpl
