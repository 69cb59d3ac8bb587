#pragma once
// SwAV: a view predicts to which prototypes another view of the image is assigned, where the
// assignments of a batch are balanced over prototypes by Sinkhorn's algorithm.
//
//   q = sinkhorn(scores / epsilon),   loss = -mean_i sum_j q_ij log softmax_j(scores' / T)
//
// Caron, Misra, Mairal, Goyal, Bojanowski, Joulin, "Unsupervised Learning of Visual Features by
// Contrasting Cluster Assignments", NeurIPS 2020.

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct SwavOptions {
  std::int64_t width = 128;
  double temperature = 0.1;
  double epsilon = 0.05;
  std::int64_t iterations = 3;
  std::int64_t queue = 3840;
  double queue_from = 50;
  double freeze = 2;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("swav-width", width, "width of the embeddings", AtLeast{1});
    v("swav-temperature", temperature, "of the predictions", Between{1e-4, 100});
    v("swav-epsilon", epsilon, "of Sinkhorn: smaller makes harder assignments", Between{1e-4, 100});
    v("swav-iterations", iterations, "of Sinkhorn", AtLeast{1});
    v("swav-queue", queue, "earlier embeddings that share the balancing; 0: none", AtLeast{0});
    v("swav-queue-from", queue_from,
      "epochs before the queue is used, at most a quarter of the training", AtLeast{0});
    v("swav-freeze", freeze, "epochs before prototypes move, at most a quarter of the training",
      AtLeast{0});
  }
};

// Balanced assignments of n rows to c prototypes, in log space: alternately every column is made to
// sum to n / c and every row to 1. Rows end exact. scores: n x c.
at::Tensor sinkhorn(const at::Tensor& scores, double epsilon, std::int64_t iterations);

extern const MethodRow kSwav;

}  // namespace cpl
