#pragma once
// Reads tests/golden/methods_golden.json, and repeats the inputs that methods_golden.py makes.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cplearn/base/error.h"

namespace cpl::test {

inline const nlohmann::json& methods_golden() {
  static const nlohmann::json golden = [] {
    const char* path = CPLEARN_TEST_DATA "/methods_golden.json";
    std::ifstream in(path);
    CPL_CHECK(in, "cannot open ", path);
    return nlohmann::json::parse(in);
  }();
  return golden;
}

inline at::Tensor sines(std::int64_t rows, std::int64_t columns, double phase) {
  const at::Tensor index = torch::arange(rows * columns, at::kDouble);
  return (index * 0.7 + phase).sin().view({rows, columns}).requires_grad_();
}

inline void expect_golden(const at::Tensor& found, const nlohmann::json& expected) {
  const at::Tensor values = torch::tensor(expected.get<std::vector<double>>(), at::kDouble);
  ASSERT_EQ(found.numel(), values.numel());
  EXPECT_LE((found.detach().flatten() - values).abs().max().item<double>(), 1e-9);
}

// A loss and its gradients with respect to `inputs`.
inline void expect_golden_loss(const char* name, const at::Tensor& loss,
                               const std::vector<at::Tensor>& inputs) {
  const nlohmann::json& expected = methods_golden()[name];
  EXPECT_NEAR(loss.item<double>(), expected["loss"].get<double>(), 1e-9);
  const auto gradients = torch::autograd::grad({loss}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    expect_golden(gradients[i], expected["gradients"][i]);
}

}  // namespace cpl::test
