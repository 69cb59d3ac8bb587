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

#include "cplearn/ssl/method.h"
#include "cplearn/ssl/self_classifier_options.h"

namespace cpl {

// s0, s1: n x c scores of the whole batch.
NamedLoss self_classifier_loss(const at::Tensor& s0, const at::Tensor& s1,
                               const SelfClassifierOptions& options);

}  // namespace cpl
