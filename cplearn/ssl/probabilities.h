#pragma once
// What methods that give each image a distribution over codes have in common. Rows are images,
// columns are codes.

#include "cplearn/ssl/method.h"

namespace cpl {

// -mean_i sum_j p_ij log q_ij
at::Tensor cross_entropy(const at::Tensor& p, const at::Tensor& log_q);

// One view predicts another: the mean over targets i and scores j of *other* views of
// cross_entropy(target_i, log softmax(score_j / temperature)). Targets come from the first views.
at::Tensor prediction_loss(const std::vector<at::Tensor>& targets,
                           const std::vector<at::Tensor>& scores, double temperature);

// Usage, entropy and cross-entropy of two views, for the monitor.
void describe_codes(const at::Tensor& log_p0, const at::Tensor& log_p1, StepResult& result);

}  // namespace cpl
