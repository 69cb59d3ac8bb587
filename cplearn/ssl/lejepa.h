#pragma once
// LeJEPA: all views of an image near the centre of its full views (invariance), and each view's
// embeddings distributed as a standard normal (SIGReg): along random directions their
// characteristic function should be exp(-t^2 / 2), by the test of Epps and Pulley.
//
//   invariance = mean over views, images, features of (z_vn - mu_n)^2,  mu_n = mean of full views
//   u = z a for each direction a,  t_k = k t_max / (K - 1),  phi_k = exp(-t_k^2 / 2)
//   sigreg = mean over views and directions of N sum_k w_k |mean_n exp(i t_k u_n) - phi_k|^2
//   w_k = 2 phi_k t_max / (K - 1), half of that at both ends
//   loss = (1 - lambda) invariance + lambda sigreg
//
// A standard normal batch has a sigreg near 1, of any size; a single point's grows with N.
//
// Balestriero, LeCun, "LeJEPA: Provable and Scalable Self-Supervised Learning Without the
// Heuristics", 2025 (arXiv 2511.08544).

#include "cplearn/ssl/lejepa_options.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// views: each n x d on each worker, the first `globals` full; N and means over n are of the rows of
// all workers. directions: m x d, unit rows, the same on every worker. Terms: invariance, sigreg
// (not weighted).
NamedLoss lejepa_loss(const std::vector<at::Tensor>& views, std::int64_t globals,
                      const at::Tensor& directions, const LejepaOptions& options,
                      WorkerGroup& workers);

}  // namespace cpl
