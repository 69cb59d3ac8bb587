#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>

#include "cplearn/base/error.h"
#include "cplearn/nn/optim/optimizer.h"
#include "tests/error_of.h"
#include "tests/golden/optim_golden.h"

namespace cpl {
namespace {

using torch::Tensor;

NamedParameters two_parameters(torch::ScalarType type) {
  Tensor matrix = torch::linspace(-1, 1, 6, torch::kDouble).view({2, 3}).to(type);
  Tensor vector = torch::tensor({0.5, -0.25}, torch::kDouble).to(type);
  return {{"matrix", matrix.requires_grad_()}, {"vector", vector.requires_grad_()}};
}

// The loss whose gradient is sin(3 p + step + 1).
void backward(const NamedParameters& parameters, int step) {
  for (const auto& [name, p] : parameters) (-(3 * p + step + 1).cos() / 3).sum().backward();
}

Tensor joined(const NamedParameters& parameters) {
  std::vector<Tensor> parts;
  for (const auto& [name, p] : parameters) parts.push_back(p.detach().flatten().to(torch::kDouble));
  return torch::cat(parts).clone();
}

OptimizerOptions options_of(const golden::OptimCase& test) {
  OptimizerOptions options;
  options.name = test.name;
  options.weight_decay = test.weight_decay;
  options.decay_all = test.decay_all;
  options.nesterov = test.nesterov;
  options.lars_clip = test.clip;
  return options;
}

TEST(Optimizer, EqualsTorchOptim) {
  for (const auto& test : golden::optim_cases()) {
    for (const auto type : {torch::kDouble, torch::kFloat}) {
      const NamedParameters parameters = two_parameters(type);
      Optimizer optimizer(parameters, options_of(test));
      for (int step = 0; step < 3; ++step) {
        optimizer.zero_grad();
        backward(parameters, step);
        if (test.max_norm > 0) optimizer.clip_gradients(test.max_norm);
        optimizer.step(0.01);
      }
      const double difference = (joined(parameters) - torch::tensor(test.values, torch::kDouble))
                                    .abs()
                                    .max()
                                    .item<double>();
      EXPECT_LT(difference, type == torch::kDouble ? 1e-12 : 1e-6)
          << test.name << " decay " << test.weight_decay;
    }
  }
}

// Large enough for several threads: the same numbers as libtorch's own Adam.
TEST(Optimizer, LargeParametersEqualLibtorch) {
  at::set_num_threads(2);
  torch::manual_seed(1);
  const Tensor mine = torch::randn({300, 401}).requires_grad_();
  const Tensor theirs = mine.detach().clone().requires_grad_();
  Optimizer optimizer({{"p", mine}}, {});
  torch::optim::Adam reference({theirs}, torch::optim::AdamOptions(1e-3));
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    reference.zero_grad();
    (mine * mine).sin().sum().backward();
    (theirs * theirs).sin().sum().backward();
    optimizer.step(1e-3);
    reference.step();
  }
  at::set_num_threads(1);
  EXPECT_LT((mine - theirs).abs().max().item<double>(), 1e-6);
}

TEST(Optimizer, ResumesExactlyFromAFile) {
  const std::string path =
      testing::TempDir() + "cplearn-test-" + std::to_string(::getpid()) + ".safetensors";
  for (const OptimizerRow& row : optimizers()) {
    OptimizerOptions options;
    options.name = row.name;
    const NamedParameters run = two_parameters(torch::kFloat);
    Optimizer optimizer(run, options);
    const auto advance = [](Optimizer& o, const NamedParameters& p, int step) {
      o.zero_grad();
      backward(p, step);
      o.step(0.01);
    };
    advance(optimizer, run, 0);
    NamedTensors saved = add_prefix(optimizer.state(), "optimizer.");
    for (const auto& [name, p] : run) saved["model." + name] = p;
    save_tensors(path, saved, {{"note", "test"}});
    advance(optimizer, run, 1);

    const TensorFile file = load_tensors(path);
    EXPECT_EQ(file.metadata.at("note"), "test");
    const NamedParameters resumed = two_parameters(torch::kFloat);
    Optimizer second(resumed, options);
    copy_tensors(with_prefix(file.tensors, "model."), NamedTensors(resumed.begin(), resumed.end()));
    second.load_state(with_prefix(file.tensors, "optimizer."));
    EXPECT_EQ(second.steps(), 1);
    advance(second, resumed, 1);
    EXPECT_TRUE(torch::equal(joined(run), joined(resumed))) << row.name;
  }
  std::filesystem::remove(path);
}

TEST(Optimizer, GradientsAreOneBufferWhateverHappensToThem) {
  const NamedParameters parameters = two_parameters(torch::kDouble);
  Optimizer optimizer(parameters, {});
  backward(parameters, 0);
  EXPECT_EQ(parameters[0].second.grad().data_ptr(), optimizer.gradients().data_ptr());
  const Tensor expected = optimizer.gradients().clone();
  for (const auto& [name, p] : parameters) p.mutable_grad() = Tensor();  // as zero_grad in torch 2
  backward(parameters, 0);
  EXPECT_TRUE(torch::equal(optimizer.gradients(), expected));
  parameters[0].second.mutable_grad() = Tensor();
  EXPECT_EQ(optimizer.gradients().narrow(0, 0, 6).abs().sum().item<double>(), 0);
  EXPECT_NEAR(optimizer.clip_gradients(0.1), expected.narrow(0, 6, 2).norm().item<double>(), 1e-12);
  EXPECT_NEAR(optimizer.gradients().norm().item<double>(), 0.1, 1e-5);
}

TEST(Optimizer, MistakesAreNamed) {
  OptimizerOptions options;
  options.name = "adma";
  EXPECT_NE(error_of([&] { Optimizer(two_parameters(torch::kFloat), options); }).find("adamw"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Optimizer({{"p", torch::zeros(2)}}, {});
            }).find("frozen"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Optimizer({{"p", torch::zeros(2, torch::kBFloat16).requires_grad_()}}, {});
            }).find("convert"),
            std::string::npos);
  Optimizer good(two_parameters(torch::kFloat), {});
  NamedTensors state = good.state();
  state.erase("exp_avg.vector");
  state["extra"] = torch::zeros(1);
  state["exp_avg.matrix"] = torch::zeros({3, 2});
  const std::string text = error_of([&] { good.load_state(state); });
  EXPECT_NE(text.find("missing: exp_avg.vector"), std::string::npos) << text;
  EXPECT_NE(text.find("unexpected: extra"), std::string::npos) << text;
  EXPECT_NE(text.find("exp_avg.matrix has shape [3, 2], expected [2, 3]"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace cpl
