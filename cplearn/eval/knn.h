#pragma once
// Weighted nearest neighbours as in DINO (Caron et al., 2021): cosine similarity s, each of the k
// nearest training points votes for its class with weight exp(s / temperature).

#include <ATen/core/Tensor.h>

#include "cplearn/eval/contingency.h"

namespace cpl {

struct KnnOptions {
  std::int64_t neighbours = 20;
  double temperature = 0.07;
};

// Votes, test x classes, double; accuracy() counts them. `train`: n x d with labels in
// [0, classes), `test`: m x d. Works through blocks of similarities: memory does not grow with n m.
at::Tensor knn_votes(const at::Tensor& train, const Labels& labels, const at::Tensor& test,
                     std::int64_t classes, const KnnOptions& options);

}  // namespace cpl
