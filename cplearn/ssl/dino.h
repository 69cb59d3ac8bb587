#pragma once
// DINO: a student predicts, from every view, what a teacher says about the full ones. The teacher
// is a running mean of the student; its outputs are centred (against one output for all) and
// sharpened (against uniform outputs).
//
//   loss = -mean over full views i, other views j:  sum_k softmax_k((t_i - centre) / T_t) log
//   softmax_k(s_j / T_s)
//
// Caron, Touvron, Misra, Jegou, Mairal, Bojanowski, Joulin, "Emerging Properties in Self-Supervised
// Vision Transformers", ICCV 2021.

#include "cplearn/ssl/dino_options.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// The teacher's distribution, n x c. scores: n x c, centre: c.
at::Tensor dino_targets(const at::Tensor& scores, const at::Tensor& centre, double temperature);

// The centre after seeing the teacher's scores of all workers.
at::Tensor dino_centre(const at::Tensor& centre, const at::Tensor& scores, double momentum,
                       WorkerGroup& workers);

}  // namespace cpl
