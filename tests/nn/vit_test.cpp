#include "cplearn/nn/backbone/vit.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <tuple>

#include "cplearn/nn/backbone/transformer_block.h"
#include "cplearn/nn/optim/optimizer.h"
#include "tests/nn/relative.h"

namespace cpl {
namespace {

using torch::Tensor;

BackboneOptions options_for(std::int64_t image_size, double drop_path, bool plain) {
  BackboneOptions options;
  options.image_size = image_size;
  options.patch_size = 8;
  options.drop_path = drop_path;
  options.plain = plain;
  return options;
}

// The same weights in both, biases and norms included, large enough for every branch to matter.
std::pair<std::shared_ptr<Backbone>, std::shared_ptr<Backbone>> fast_and_plain(
    std::int64_t image_size, double drop_path) {
  const auto fast = make_vit_tiny(options_for(image_size, drop_path, false));
  const auto plain = make_vit_tiny(options_for(image_size, drop_path, true));
  torch::manual_seed(3);
  const torch::NoGradGuard guard;
  const auto parameters = plain->named_parameters();
  for (const auto& item : fast->named_parameters()) {
    item.value().add_(torch::randn_like(item.value()) * (item.value().dim() == 1 ? 0.3 : 0.03));
    parameters[item.key()].copy_(item.value());
  }
  return {fast, plain};
}

// Output of the last `blocks` blocks, and all gradients of a weighted sum of it.
std::map<std::string, Tensor> results(Backbone& net, const Tensor& images, std::int64_t blocks) {
  torch::manual_seed(5);  // drop path
  net.zero_grad();
  const Tensor output = net.probe_features(images, blocks);
  torch::manual_seed(6);
  (output * torch::randn_like(output)).sum().backward();
  std::map<std::string, Tensor> all = {{"output", output.detach()}};
  for (const auto& item : net.named_parameters()) all[item.key()] = item.value().grad().clone();
  return all;
}

// Of another type than float, it is the plain graph: equal but for the kernels of OpenBLAS, some of
// which depend on where a tensor lies (3e-9 seen). A float in between would show as 1e-6.
TEST(Vit, FastEqualsThePlainGraph) {
  for (const auto& [threads, n, height, width, blocks, drop_path] :
       {std::tuple{1, 3, 32, 32, 1, 0.0},
        {2, 5, 32, 32, 1, 0.5},
        {1, 2, 32, 32, 3, 0.5},
        {1, 7, 16, 40, 1, 0.3},  // another grid than that of the position table
        {2, 1, 80, 80, 12, 0.0}}) {
    at::set_num_threads(threads);
    const auto [fast, plain] = fast_and_plain(32, drop_path);
    for (const auto& [type, tolerance] : {std::pair{torch::kFloat, 1e-5}, {torch::kDouble, 1e-8}}) {
      fast->to(type);
      plain->to(type);
      const Tensor images = torch::randn({n, 3, height, width}, type);
      const auto a = results(*fast, images, blocks), b = results(*plain, images, blocks);
      for (const auto& [name, value] : a)
        EXPECT_LT(relative(value, b.at(name)), tolerance)
            << name << ", " << height << "x" << width << ", " << blocks << " blocks";
    }
  }
  at::set_num_threads(1);
}

TEST(Vit, NothingChangesWithoutGradients) {
  at::set_num_threads(2);
  const auto [fast, plain] = fast_and_plain(32, 0.1);
  const Tensor images = torch::randn({5, 3, 32, 32});
  fast->eval();
  plain->eval();
  const Tensor with = fast->probe_features(images, 4).detach();
  const torch::NoGradGuard guard;
  EXPECT_TRUE(torch::equal(fast->probe_features(images, 4), with));
  EXPECT_LT(relative(plain->probe_features(images, 4), with), 1e-5);
  at::set_num_threads(1);
}

// A frozen network still passes the gradient on to its input.
TEST(Vit, ImagesGetTheirGradient) {
  const auto [fast, plain] = fast_and_plain(16, 0.0);
  for (const auto& [threads, n] : {std::pair{1, 3}, {2, 50}}) {  // one group of tokens, and two
    at::set_num_threads(threads);
    Tensor gradients[2];
    for (const auto& net : {fast, plain}) {
      for (const Tensor& p : net->parameters()) p.requires_grad_(false);
      torch::manual_seed(4);
      const Tensor images = torch::randn({n, 3, 16, 16}).requires_grad_();
      (net->forward(images) * torch::randn({n, 192})).sum().backward();
      gradients[net == plain] = images.grad();
    }
    EXPECT_LT(relative(gradients[0], gradients[1]), 1e-5) << n << " images";
  }
  at::set_num_threads(1);
}

// Twenty steps of training end within rounding of each other.
TEST(Vit, TrainingEndsWhereThePlainGraphDoes) {
  const auto [fast, plain] = fast_and_plain(16, 0.2);
  std::vector<Tensor> ends[2];
  for (const auto& net : {fast, plain}) {
    OptimizerOptions options;
    options.name = "sgd";
    Optimizer optimizer(*net, options);
    torch::manual_seed(7);
    const Tensor images = torch::randn({8, 3, 16, 16}), target = torch::randn({8, 192});
    for (int step = 0; step < 20; ++step) {
      optimizer.zero_grad();
      torch::mse_loss(net->forward(images), target).backward();
      optimizer.step(1e-2);
    }
    for (const Tensor& p : net->parameters()) ends[net == plain].push_back(p.detach().clone());
  }
  for (std::size_t i = 0; i < ends[0].size(); ++i)
    EXPECT_LT(relative(ends[0][i], ends[1][i]), 1e-4);
}

TEST(TransformerBlock, SaysWhatItSupports) {
  const auto net = make_vit_tiny(options_for(16, 0.0, false));
  const BlockParameters parameters = net->children()[1]->children()[0]->parameters();
  const Tensor x = torch::randn({2, 5, 192});
  EXPECT_TRUE(transformer_block_supports(x, parameters, 3));
  EXPECT_FALSE(transformer_block_supports(x.to(torch::kDouble), parameters, 3));
  EXPECT_FALSE(transformer_block_supports(x, parameters, 12));  // heads of 16
}

}  // namespace
}  // namespace cpl
