#pragma once
// The CPLearn loss on embeddings H, H' (n x d) and a frozen dictionary W (d x c):
//
//   S = scale * H W,  P = softmax(S)
//   invariance = -(1/n) sum_ij p_ij log p'_ij          (Eq. 2; symmetric: mean of both directions)
//   prior      = -sum_j q_j log pbar_j                  (forward, Eq. 2)
//              = sum_j pbar_j log(pbar_j / q_j)         (reverse, appendix "Practical
//              Implementation")
//              = (1/n) sum_ij p_ij log(m_ij / q_j)      (others: m_i is the mean over all rows but
//              i, so that an image does not push itself away; docs/collapse.md)
//   loss       = beta * invariance + prior              pbar = mean_i p_i
//
// Twice: as plain libtorch operations on a dense W (any device and type; the oracle), and fused
// (CPU, fp32, memory O(n d + c); see simd/head_kernel.h).
//
// Sansone, Lebailly, Tuytelaars, "Collapse-Proof Non-Contrastive Self-Supervised Learning", ICML
// 2025.

#include <ATen/core/Tensor.h>

#include "cplearn/dist/worker_group.h"
#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/head_enums.h"

namespace cpl {

struct CodeLossOptions {
  double scale;    // of the logits, see logit_scale
  double beta;     // weight of the invariance term
  bool symmetric;  // both directions and both views' priors; otherwise the paper's Eq. 2 as it
                   // stands
  PriorForm prior;
  at::Tensor target;  // q, c probabilities; undefined means uniform
};

struct CodeLoss {
  at::Tensor total;       // differentiable; the others are detached values
  at::Tensor invariance;  // not weighted by beta
  at::Tensor prior;
  at::Tensor entropy;  // mean_i H(p_i) over both views, in nats
  at::Tensor mean;     // 2 x c: pbar of each view
};

// L = log((1 - eps (c - 1)) / eps): the gap between the logits of the matched code and the others
// at the optimum. Needs codes < 1 / eps.
double logit_gap(std::int64_t codes);

// The factor of H W. `theory` puts the logit of a perfectly aligned embedding at L, whatever the
// batch: L / d for tanh, L / sqrt(d) for rows of unit length. `author` (the released code) is
// sqrt(batch) times sharper; `batch` is the training batch, never that of an evaluation.
// `deviation` gives logits that standard deviation over the codes, whatever the width; for tanh
// that of inputs with variance 1.
double logit_scale(Activation activation, LogitScale scale, std::int64_t width, std::int64_t codes,
                   std::int64_t batch, double deviation = 0);

// What `auto` means: the others of the batch, from 64 images on. In smaller batches images learn to
// stay apart from those that batch norm shows them, which is no use elsewhere (docs/collapse.md).
PriorForm resolve_prior(PriorChoice choice, std::int64_t batch);

// What a deviation of 0 means: the most that so many codes resolve, sqrt(log codes), where an image
// is held against the others; 2 where it also counts against itself.
double resolve_deviation(double wanted, PriorForm prior, std::int64_t codes);

// Throws cpl::Error if there are no others. `rows`: of the whole batch.
void check_prior(PriorForm prior, std::int64_t rows);

// w: d x c, of the type of h0. Single worker.
CodeLoss code_loss_plain(const at::Tensor& h0, const at::Tensor& h1, const at::Tensor& w,
                         const CodeLossOptions& options);

// fp32 on the CPU. The gradient is computed together with the loss when h0 or h1 needs one.
// Deterministic for a fixed number of threads. With several workers, means are over all of them.
CodeLoss code_loss_fused(const at::Tensor& h0, const at::Tensor& h1, const Dictionary& dictionary,
                         const CodeLossOptions& options, WorkerGroup& workers);

// The nearest code of each row and its probability under softmax(scale * h W).
struct CodeAssignment {
  at::Tensor code;         // n, int64
  at::Tensor probability;  // n, float
};
CodeAssignment assign_codes(const at::Tensor& h, const Dictionary& dictionary, double scale);

}  // namespace cpl
