#include "cplearn/nn/linear.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/nn/product.h"
#include "tests/nn/relative.h"

namespace cpl {
namespace {

using torch::Tensor;

TEST(Product, EqualsAtenForAnyStrides) {
  torch::manual_seed(1);
  const Tensor big = torch::randn({90, 2, 80}, torch::kDouble);
  const Tensor a = big.select(1, 1).narrow(1, 3, 70);  // rows with gaps
  const Tensor b = torch::randn({40, 70}, torch::kDouble).t();
  const Tensor odd = torch::randn({70, 40, 3}, torch::kDouble).select(2, 1);  // no stride is 1
  EXPECT_LT(relative(product(a, b), at::mm(a, b)), 1e-13);
  EXPECT_LT(relative(product(a, odd), at::mm(a, odd)), 1e-13);
  EXPECT_LT(relative(product(b.t(), a.t()), at::mm(b.t(), a.t())), 1e-13);
  EXPECT_LT(relative(product(a.narrow(0, 0, 1), b), at::mm(a.narrow(0, 0, 1), b)), 1e-13);
  EXPECT_LT(relative(product(a, b.narrow(1, 0, 1)), at::mm(a, b.narrow(1, 0, 1))), 1e-13);
  Tensor sum = torch::ones({90, 40}, torch::kDouble);
  add_product(sum, a, b);
  EXPECT_LT(relative(sum, at::mm(a, b) + 1), 1e-13);
  EXPECT_EQ(product(a.to(torch::kBFloat16), b.to(torch::kBFloat16)).scalar_type(),
            torch::kBFloat16);
  EXPECT_THROW(product(a, a), Error);
}

TEST(Product, IsTheSameOnAnyNumberOfThreads) {
  const Tensor a = torch::randn({333, 600}), b = torch::randn({600, 120});
  at::set_num_threads(1);
  const Tensor tall = product(a, b), wide = product(b.t(), a.t());
  at::set_num_threads(2);
  EXPECT_TRUE(torch::equal(tall, product(a, b)));
  EXPECT_TRUE(torch::equal(wide, product(b.t(), a.t())));
  Tensor inside[2];  // where every thread has a product of its own
  at::parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) inside[i] = product(a, b);
  });
  for (const Tensor& each : inside) EXPECT_TRUE(torch::equal(tall, each));
  at::set_num_threads(1);
}

TEST(Linear, EqualsTorchWithAllGradients) {
  torch::manual_seed(2);
  for (const auto& [type, tolerance] : {std::pair{torch::kDouble, 1e-13}, {torch::kFloat, 2e-6}}) {
    for (const bool biased : {false, true}) {
      const Tensor x0 = torch::randn({4, 9, 33}, type), w0 = torch::randn({50, 33}, type);
      const Tensor b0 = torch::randn({50}, type), g = torch::randn({4, 9, 50}, type);
      std::vector<Tensor> results[2];
      for (const bool ours : {false, true}) {
        const Tensor x = x0.clone().requires_grad_(), w = w0.clone().requires_grad_();
        const Tensor b = biased ? b0.clone().requires_grad_() : Tensor();
        const Tensor y = ours ? linear(x, w, b) : torch::linear(x, w, b);
        (y * g).sum().backward();
        results[ours] = {y.detach(), x.grad(), w.grad()};
        if (biased) results[ours].push_back(b.grad());
      }
      for (std::size_t i = 0; i < results[0].size(); ++i)
        EXPECT_LT(relative(results[1][i], results[0][i]), tolerance) << "tensor " << i;
    }
  }
}

TEST(Linear, RefusesSecondDerivatives) {
  const Tensor x = torch::randn({3, 8}).requires_grad_(), w = torch::randn({5, 8});
  const Tensor sum = linear(x, w, Tensor()).square().sum();
  EXPECT_THROW(torch::autograd::grad({sum}, {x}, {}, true, true), Error);
}

TEST(Linear, LeavesOtherTypesToTorch) {
  const Tensor x = torch::randn({3, 8}, torch::kBFloat16);
  const Tensor w = torch::randn({5, 8}, torch::kBFloat16);
  EXPECT_TRUE(torch::equal(linear(x, w, Tensor()), torch::linear(x, w, Tensor())));
}

}  // namespace
}  // namespace cpl
