#include "cplearn/ssl/probabilities.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"

namespace cpl {

at::Tensor cross_entropy(const at::Tensor& p, const at::Tensor& log_q) {
  return -(p * log_q).sum(1).mean();
}

at::Tensor prediction_loss(const std::vector<at::Tensor>& targets,
                           const std::vector<at::Tensor>& scores, double temperature) {
  at::Tensor sum;
  int terms = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const at::Tensor log_q = (scores[j] / temperature).log_softmax(1);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (i == j) continue;
      const at::Tensor term = cross_entropy(targets[i], log_q);
      sum = sum.defined() ? sum + term : term;
      ++terms;
    }
  }
  CPL_CHECK(terms > 0, "a view must predict another one: there is only one; use more --views");
  return sum / terms;
}

void describe_codes(const at::Tensor& log_p0, const at::Tensor& log_p1, StepResult& result) {
  const at::NoGradGuard no_grad;
  const at::Tensor a = log_p0.detach(), b = log_p1.detach(), p = a.exp(), q = b.exp();
  result.usage = 0.5 * (p.mean(0) + q.mean(0));
  result.entropy = 0.5 * (cross_entropy(p, a) + cross_entropy(q, b)).item<double>();
  result.cross_entropy = 0.5 * (cross_entropy(p, b) + cross_entropy(q, a)).item<double>();
}

}  // namespace cpl
