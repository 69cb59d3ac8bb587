#pragma once
// What every loss over the batch must keep: two workers with half of the rows each get the loss of
// one worker with all of them, and the mean of their gradients is its gradient.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "tests/dist/thread_group.h"

namespace cpl::test {

using LossOfRows =
    std::function<at::Tensor(const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers)>;

inline void expect_same_for_two_workers(const LossOfRows& loss) {
  torch::manual_seed(5);
  const at::Tensor z0 = torch::randn({12, 6}, at::kDouble).requires_grad_();
  const at::Tensor z1 = torch::randn({12, 6}, at::kDouble).requires_grad_();
  WorkerGroup alone;
  const at::Tensor whole = loss(z0, z1, alone);
  const auto expected = torch::autograd::grad({whole}, {z0, z1});
  double value[2];
  at::Tensor found[2][2];
  as_two_workers([&](ThreadGroup& group) {
    const int rank = group.rank();
    const at::Tensor a = z0.detach().narrow(0, 6 * rank, 6).clone().requires_grad_();
    const at::Tensor b = z1.detach().narrow(0, 6 * rank, 6).clone().requires_grad_();
    const at::Tensor part = loss(a, b, group);
    part.backward();
    value[rank] = part.item<double>();
    for (int v = 0; v < 2; ++v) found[v][rank] = v == 0 ? a.grad() : b.grad();
  });
  EXPECT_NEAR(0.5 * (value[0] + value[1]), whole.item<double>(), 1e-12);
  for (std::size_t v = 0; v < 2; ++v) {
    const at::Tensor joined = torch::cat({found[v][0], found[v][1]}) / 2;
    EXPECT_LE((joined - expected[v]).abs().max().item<double>(), 1e-12);
  }
}

}  // namespace cpl::test
