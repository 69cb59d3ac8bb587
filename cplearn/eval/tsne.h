#pragma once
// t-SNE (van der Maaten and Hinton, 2008): a map in which neighbours stay neighbours. Settings as
// recommended by Kobak and Berens (2019) and Belkina et al. (2019), as openTSNE and scikit-learn.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace cpl {

struct TsneOptions {
  double perplexity = 30;  // neighbours that count; lowered for fewer than 3 times as many points
  double exaggeration = 12;
  int early_iterations = 250;  // exaggerated, with momentum 0.5; then 0.8
  int iterations = 1000;       // in all
  double learning_rate = 0;    // 0: n / exaggeration, at least 50
  // Groups of points that look smaller than this from afar (size / distance) act as one (Barnes and
  // Hut, 1986); 0 is exact. Up to `exact_points` it is exact in any case.
  double angle = 0.5;
  std::int64_t exact_points = 500;
};

// n x 2, float. `x`: n x d, at least 4 rows. Starts from the principal components; nothing is
// random. `progress` gets the iterations done.
at::Tensor tsne(const at::Tensor& x, const TsneOptions& options,
                const std::function<void(int)>& progress);

}  // namespace cpl
