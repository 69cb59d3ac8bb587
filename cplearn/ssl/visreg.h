#pragma once
// VISReg: all views of an image near the centre of its full views (invariance), and each view's
// embeddings distributed as a standard normal, asked for in three parts: mean 0 (centre), standard
// deviation 1 (scale), and, once these are taken away, the quantiles of the normal along random
// directions (shape). So scale is felt at a collapse, where LeJEPA's slope vanishes.
//
//   centre = mean_j mu_j^2,  scale = mean_j (1 - sigma_j)^2,  mu, sigma over the batch, biased
//   u = sort over n of ((z - mu) / (stopgrad(sigma) + 1e-4)) a for each direction a
//   shape = mean over directions and n of (u_n - Phi^-1(n / (N + 1)))^2,  n = 1 ... N
//   loss = (1 - lambda) invariance + lambda (centre + scale + shape), means over views
//
// Invariance is LeJEPA's.
//
// Wu, Balestriero, Levine, "VISReg: Variance-Invariance-Sketching Regularization for JEPA
// training", 2026 (arXiv 2606.02572).

#include "cplearn/ssl/method.h"
#include "cplearn/ssl/visreg_options.h"

namespace cpl {

// views: each n x d on each worker, the first `globals` full; statistics and order are of the rows
// of all workers. directions: m x d, unit rows, the same on every worker. Terms: invariance,
// centre, scale, shape (not weighted).
NamedLoss visreg_loss(const std::vector<at::Tensor>& views, std::int64_t globals,
                      const at::Tensor& directions, const VisregOptions& options,
                      WorkerGroup& workers);

}  // namespace cpl
