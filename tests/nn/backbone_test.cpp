#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <set>

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/backbone.h"
#include "cplearn/nn/backbone/batch_norm.h"
#include "cplearn/nn/backbone/winograd.h"
#include "cplearn/nn/state.h"
#include "tests/error_of.h"
#include "tests/forced_isa.h"
#include "tests/golden/backbone_golden.h"
#include "tests/nn/relative.h"

namespace cpl {
namespace {

using torch::Tensor;

// The formula of tests/golden/backbone_golden.py: uniform in [-1, 1), in double.
Tensor noise(const std::string& name, at::IntArrayRef shape) {
  std::uint64_t seed = 0xCBF29CE484222325;
  for (const unsigned char byte : name) seed = (seed ^ byte) * 0x100000001B3;
  Tensor result = torch::empty(shape, torch::kDouble);
  double* values = result.data_ptr<double>();
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    std::uint64_t z = seed + static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    values[i] = static_cast<double>((z ^ (z >> 31)) >> 40) / (1 << 23) - 1;
  }
  return result;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void fill(torch::nn::Module& net) {
  const torch::NoGradGuard guard;
  for (const auto& [name, value] : module_state(net)) {
    if (!value.is_floating_point()) continue;
    Tensor u = noise(name, value.sizes());
    const bool weight = ends_with(name, "weight");
    if (ends_with(name, "running_var") || (value.dim() == 1 && weight)) {
      u = 1 + 0.2 * u;
    } else if (value.dim() > 1 && weight) {
      u = u * std::sqrt(6.0 / static_cast<double>(value[0].numel()));
    } else {
      u = 0.1 * u;
    }
    value.detach().copy_(u);
  }
}

// Output and all gradients of a weighted sum of it.
std::vector<Tensor> output_and_gradients(Backbone& net, const Tensor& images) {
  net.zero_grad();
  const Tensor output = net.forward(images);
  (output * noise("gradient", output.sizes()).to(output.scalar_type())).sum().backward();
  std::vector<Tensor> all = {output.detach()};
  for (const Tensor& p : net.parameters()) all.push_back(p.grad().clone());
  return all;
}

TEST(Backbone, EqualsTorchvisionAndDino) {
  for (const auto& test : golden::backbone_cases()) {
    BackboneOptions options;
    options.stem = test.stem[0] ? test.stem : "cifar";
    options.stem_padding = test.stem_padding;
    options.image_size = test.image_size;
    options.patch_size = test.patch_size;
    options.drop_path = 0;
    const auto net = make_backbone(test.name, options);
    net->to(torch::kDouble);
    fill(*net);
    net->train(test.training);
    const Tensor y =
        net->probe_features(noise("images", {3, 3, test.height, test.width}), test.blocks);
    ASSERT_EQ(y.sizes(), (std::vector<std::int64_t>{3, net->features() * test.blocks}));
    (y * noise("gradient", y.sizes())).sum().backward();
    const std::string what = str(test.name, " ", test.stem, " ", test.height, "x", test.width);
    EXPECT_LT(
        relative(y.detach().flatten().slice(0, 0, 8), torch::tensor(test.output, torch::kDouble)),
        1e-9)
        << what;
    EXPECT_NEAR(y.norm().item<double>() / test.output_norm, 1, 1e-10) << what;
    const Tensor gradient = net->named_parameters()[test.parameter].grad();
    EXPECT_NEAR(gradient.norm().item<double>() / test.gradient_norm, 1, 1e-8) << what;
  }
}

// The fast path of ResNet-8 against its definition: outputs and every gradient.
TEST(Backbone, FastResnet8EqualsThePlainGraph) {
  for (const bool final_activation : {false, true}) {
    for (const auto& [type, tolerance] :
         {std::pair{torch::kDouble, 1e-12}, {torch::kFloat, 1e-5}}) {
      for (const auto& [width, height, side] : {std::tuple{20, 32, 32}, {16, 8, 20}, {32, 4, 4}}) {
        BackboneOptions options;
        options.width = width;
        options.final_activation = final_activation;
        const auto fast = make_backbone("resnet8", options);
        options.plain = true;
        const auto plain = make_backbone("resnet8", options);
        for (const auto& net : {fast, plain}) {
          net->to(type);
          fill(*net);
        }
        const Tensor images = noise("images", {5, 3, height, side}).to(type);
        const auto a = output_and_gradients(*fast, images);
        const auto b = output_and_gradients(*plain, images);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_LT(relative(a[i], b[i]), tolerance) << "tensor " << i << " width " << width;
        }
      }
    }
  }
}

// bf16 takes neither Winograd nor a detour through float, and stays as near as its 8 bits allow.
TEST(Backbone, FastResnet8WorksInBf16) {
  BackboneOptions options;
  options.width = 16;
  const auto net = make_backbone("resnet8", options);
  fill(*net);
  const Tensor images = noise("images", {4, 3, 16, 16}).to(torch::kFloat);
  const Tensor exact = net->forward(images).detach();
  net->to(torch::kBFloat16);
  const auto all = output_and_gradients(*net, images.to(torch::kBFloat16));
  EXPECT_EQ(all[0].scalar_type(), torch::kBFloat16);
  EXPECT_LT(relative(all[0].to(torch::kFloat), exact), 0.05);
}

// Any size of map, with and without bias, activation and pooling: values and all gradients. On
// other instruction sets than the best one activation is enough, which keeps the portable kernels
// from taking most of the time.
TEST(Backbone, WinogradEqualsTheDirectConvolution) {
  for (const auto& [type, tolerance] : {std::pair{torch::kDouble, 1e-12}, {torch::kFloat, 1e-5}}) {
    for (const auto& [threads, n, in, out, height, width] : {std::tuple{1, 1, 16, 16, 4, 4},
                                                             {1, 3, 32, 16, 7, 9},
                                                             {1, 9, 16, 48, 32, 6},
                                                             {2, 40, 32, 32, 8, 8},
                                                             {2, 9, 96, 80, 5, 4},
                                                             // more threads than images
                                                             {2, 1, 16, 16, 64, 64},
                                                             {4, 3, 16, 16, 40, 40}}) {
      at::set_num_threads(threads);
      for (const auto kind : {Winograd::kSame, Winograd::kPooled, Winograd::kStrided}) {
        if (kind == Winograd::kPooled && (height % 2 != 0 || width % 2 != 0)) continue;
        for (const double slope : {1.0, 0.2, 0.0}) {
          const auto results = [&, type = type, n = n, in = in, out = out, height = height,
                                width = width](bool direct) {
            const auto leaf = [&](const char* name, at::IntArrayRef shape) {
              return noise(name, shape).to(type).requires_grad_();
            };
            const Tensor x = leaf("x", {n, in, height, width});
            const Tensor weight = leaf("weight", {out, in, 3, 3});
            const Tensor bias = slope == 0 ? Tensor() : leaf("bias", {out});
            Tensor y;
            if (direct) {
              const int stride = kind == Winograd::kStrided ? 2 : 1;
              y = torch::conv2d(torch::leaky_relu(x, slope), weight, bias, stride, 1);
              if (kind == Winograd::kPooled) y = torch::avg_pool2d(y, 2);
            } else {
              y = winograd_conv(x, weight, bias, kind, slope);
            }
            (y * noise("gradient", y.sizes()).to(type)).sum().backward();
            std::vector<Tensor> all = {y.detach(), x.grad(), weight.grad()};
            if (bias.defined()) all.push_back(bias.grad());
            return all;
          };
          const std::vector<Tensor> expected = results(true);
          const std::string what =
              str(n, " x ", height, " x ", width, " slope ", slope, " threads ", threads);
          on_every_instruction_set([&, tolerance = tolerance] {
            if (slope != 0.2 && simd::instruction_set() != simd::instruction_sets().front()) return;
            const std::vector<Tensor> found = results(false);
            for (std::size_t i = 0; i < found.size(); ++i)
              EXPECT_LT(relative(found[i], expected[i]), tolerance)
                  << "tensor " << i << " " << what;
          });
        }
      }
    }
  }
  at::set_num_threads(1);
}

// With and without residual and ReLU, in training and not: values, gradients, running statistics.
// The larger map is more than a part for each thread; it is in double only, because of so many
// numbers in float one may fall to the other side of the ReLU.
TEST(Backbone, NormaliseEqualsTheModule) {
  struct Case {
    torch::ScalarType type;
    double tolerance;
    int threads;
    std::vector<std::int64_t> shape;
  };
  for (const Case& test :
       {Case{torch::kDouble, 1e-12, 1, {7, 48, 9, 5}}, Case{torch::kFloat, 5e-6, 1, {7, 48, 9, 5}},
        Case{torch::kDouble, 1e-12, 3, {10, 48, 16, 14}}}) {
    at::set_num_threads(test.threads);
    for (int which = 0; which < 8; ++which) {
      const bool relu = which & 1, added = which & 2, training = which & 4;
      const auto results = [&](bool plain) {
        torch::nn::BatchNorm2d norm(48);
        norm->to(test.type);
        fill(*norm);
        norm->train(training);
        const auto leaf = [&](const char* name) {
          return noise(name, test.shape).to(test.type).requires_grad_();
        };
        const Tensor x = leaf("x"), residual = leaf("residual");
        // A mean far from zero, where the naive variance has no digits left.
        const Tensor y = normalise(norm, 3 * x + 40, added ? residual : Tensor(), relu, plain);
        (y * noise("gradient", y.sizes()).to(test.type)).sum().backward();
        std::vector<Tensor> all = {y.detach(),        x.grad(),           norm->weight.grad(),
                                   norm->bias.grad(), norm->running_mean, norm->running_var};
        if (added) all.push_back(residual.grad());
        EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), training ? 1 : 0);
        return all;
      };
      const std::vector<Tensor> expected = results(true);
      on_every_instruction_set([&] {
        const std::vector<Tensor> found = results(false);
        for (std::size_t i = 0; i < found.size(); ++i) {
          // Float keeps 40 +- 3 to 4e-6 of its spread, and 40 times as much is lost of x itself.
          EXPECT_LT(relative(found[i], expected[i]), test.tolerance * (i == 1 ? 10 : 1))
              << "tensor " << i << " case " << which << " threads " << test.threads;
        }
      });
    }
  }
  at::set_num_threads(1);
}

// The norm that is never in memory, with scales that are zero and negative, on maps with borders.
// One image has few tiles (threads take points) or many (more threads than images).
TEST(Backbone, NormalisedConvolutionEqualsItsParts) {
  at::set_num_threads(2);
  for (const auto& [type, tolerance] : {std::pair{torch::kDouble, 1e-11}, {torch::kFloat, 2e-5}}) {
    for (const auto& [n, height, width] : {std::tuple{9, 10, 9}, {1, 10, 9}, {1, 48, 40}}) {
      for (int which = 0; which < 4; ++which) {
        const auto kind = which & 1 ? Winograd::kStrided : Winograd::kSame;
        const bool training = which & 2;
        const auto results = [&, type = type, n = n, height = height, width = width](bool plain) {
          torch::nn::BatchNorm2d norm(32);
          norm->to(type);
          fill(*norm);
          {
            const torch::NoGradGuard no_grad;
            norm->weight[3] = 0;
            norm->weight[5] = -1;
            norm->bias[3] = 0.5;
          }
          norm->train(training);
          const Tensor x = noise("x", {n, 32, height, width}).to(type).requires_grad_();
          const Tensor weight = noise("weight", {48, 32, 3, 3}).to(type).requires_grad_();
          const int stride = kind == Winograd::kStrided ? 2 : 1;
          const Tensor y = plain ? torch::conv2d(norm(x).relu(), weight, {}, stride, 1)
                                 : normalised_conv(norm, x, weight, kind);
          (y * noise("gradient", y.sizes()).to(type)).sum().backward();
          return std::vector<Tensor>{y.detach(),          x.grad(),          weight.grad(),
                                     norm->weight.grad(), norm->bias.grad(), norm->running_mean,
                                     norm->running_var};
        };
        const std::vector<Tensor> expected = results(true);
        const std::string what = str(n, " x ", height, " x ", width, " case ", which);
        on_every_instruction_set([&, tolerance = tolerance] {
          const std::vector<Tensor> found = results(false);
          for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_LT(relative(found[i], expected[i]), tolerance) << "tensor " << i << " " << what;
        });
      }
    }
  }
  at::set_num_threads(1);
}

// `cplearn bench train` tells by these names how much of a step is products.
TEST(Backbone, ProfilersSeeConvolutionsInBothDirections) {
  static std::set<std::string> names;
  names.clear();
  const auto handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& function) {
                                   names.insert(function.name());
                                   return std::unique_ptr<at::ObserverContext>();
                                 }).scopes({at::RecordScope::FUNCTION}));
  const Tensor x = noise("x", {1, 16, 4, 4}).requires_grad_();
  const Tensor weight = noise("weight", {16, 16, 3, 3}).requires_grad_();
  winograd_conv(x, weight, Tensor(), Winograd::kSame, 1).sum().backward();
  at::removeCallback(handle);
  EXPECT_EQ(names.count("cplearn::convolution"), 1u);
  EXPECT_EQ(names.count("cplearn::convolution_backward"), 1u);
}

// A network that has gone wrong must not look like one that is merely switched off.
TEST(Backbone, NanPassesTheRelu) {
  on_every_instruction_set([] {
    for (const auto type : {torch::kDouble, torch::kFloat}) {
      torch::nn::BatchNorm2d norm(16);
      norm->to(type);
      norm->eval();  // in training it is in the moments, and then everywhere
      const Tensor x = noise("x", {2, 16, 8, 8}).to(type);
      x[1][3][5][2] = std::numeric_limits<double>::quiet_NaN();
      const Tensor plain = normalise(norm, x, Tensor(), true, true);
      const Tensor fast = normalise(norm, x, Tensor(), true, false);
      EXPECT_TRUE(torch::equal(fast.isnan(), plain.isnan()));
      const Tensor weight = noise("weight", {16, 16, 3, 3}).to(type);
      for (const double slope : {0.2, 0.0}) {
        const Tensor all[] = {normalised_conv(norm, x, weight, Winograd::kSame),
                              winograd_conv(x, weight, Tensor(), Winograd::kSame, slope)};
        for (const Tensor& y : all) {  // at its neighbours, and for the rest of their tiles
          EXPECT_TRUE(y[1].narrow(1, 4, 3).narrow(2, 1, 3).isnan().all().item<bool>());
          EXPECT_FALSE(y[0].isnan().any().item<bool>());
        }
      }
    }
  });
}

// How far some steps of momentum on eight images move all parameters.
Tensor train(const std::string& name, bool plain, torch::ScalarType type, int steps) {
  BackboneOptions options;
  options.width = 32;
  options.plain = plain;
  const auto net = make_backbone(name, options);
  net->to(type);
  fill(*net);
  const auto parameters = [&] {
    std::vector<Tensor> all;
    for (const Tensor& p : net->parameters())
      all.push_back(p.detach().flatten().to(torch::kDouble));
    return torch::cat(all);
  };
  const Tensor start = parameters();
  const Tensor images = noise("images", {8, 3, 16, 16}).to(type);
  const Tensor target = noise("target", {8, net->features()}).to(type);
  torch::optim::SGD optimiser(net->parameters(), torch::optim::SGDOptions(0.001).momentum(0.9));
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    optimiser.zero_grad();
    const Tensor loss = (net->forward(images) - target).square().mean();
    loss.backward();
    optimiser.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, (steps < 50 ? 0.99 : 0.6) * first) << name << " did not learn";
  return parameters() - start;
}

// In double the fast and the plain net go the same way, so that after 50 steps a difference tells
// of a mistake. In float a ReLU now and then falls to the other side of zero, and batch norm over
// eight images makes much of it: after 50 steps resnet18 is 1.5e-4 of its parameters' size from
// where double arrives, the plain net and the fast one alike. There a few steps tell as much as
// many.
TEST(Backbone, FiftyStepsOfTrainingEqualThePlainGraph) {
#ifdef __GLIBC__
  // As cli/main.cpp does: a third of the time was page faults.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
  for (const auto& [name, tolerance] : {std::pair{"resnet8", 1e-3}, {"resnet18", 1e-2}}) {
    const auto apart = [name = name](torch::ScalarType type, int steps) {
      const Tensor plain = train(name, true, type, steps), fast = train(name, false, type, steps);
      return ((fast - plain).norm() / plain.norm()).item<double>();
    };
    EXPECT_LT(apart(torch::kDouble, 50), 1e-8) << name;
    EXPECT_LT(apart(torch::kFloat, 5), tolerance) << name;
  }
}

TEST(Backbone, EveryRowTrainsAndIsReproducible) {
  BackboneOptions options;
  options.image_size = 32;
  options.patch_size = 8;
  const Tensor images = noise("images", {4, 3, 32, 32}).to(torch::kFloat);
  for (const BackboneRow& row : backbones()) {
    torch::manual_seed(3);
    const auto first = make_backbone(row.name, options);
    torch::manual_seed(3);
    const auto second = make_backbone(row.name, options);
    const auto state = module_state(*second);
    for (const auto& [name, tensor] : module_state(*first)) {
      EXPECT_TRUE(torch::equal(tensor, state.at(name))) << row.name << " " << name;
    }
    const auto all = output_and_gradients(*first, images);
    EXPECT_EQ(all[0].sizes(), (std::vector<std::int64_t>{4, first->features()})) << row.name;
    for (const auto& item : first->named_parameters()) {
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << row.name << item.key();
      EXPECT_GT(item.value().grad().abs().sum().item<double>(), 0) << row.name << item.key();
    }
  }
}

TEST(Backbone, InitialWeightsHaveTheOriginalsSpread) {
  torch::manual_seed(1);
  BackboneOptions options;
  const auto spread = [&](const char* name, const char* parameter) {
    return make_backbone(name, options)->named_parameters()[parameter].std().item<double>();
  };
  EXPECT_NEAR(spread("resnet18", "layer2.0.conv1.weight"), std::sqrt(2.0 / (128 * 9)), 1e-3);
  EXPECT_NEAR(spread("resnet8", "block2.conv1.weight"), std::sqrt(2.0 / (256 * 9)), 1e-3);
  EXPECT_NEAR(spread("vit_small", "blocks.3.attn.qkv.weight"), 0.02, 1e-3);
}

TEST(Backbone, DropPathLeavesEvaluationAlone) {
  BackboneOptions options;
  options.image_size = 16;
  options.patch_size = 8;
  options.drop_path = 0.5;
  const auto net = make_backbone("vit_tiny", options);
  const Tensor images = noise("images", {4, 3, 16, 16}).to(torch::kFloat);
  EXPECT_FALSE(torch::equal(net->forward(images), net->forward(images)));
  net->eval();
  EXPECT_TRUE(torch::equal(net->forward(images), net->forward(images)));
  EXPECT_LT(relative(net->probe_features(images, 3).slice(1, 2 * 192), net->forward(images)), 1e-6);
}

// They would silently be wrong; the plain graph has them.
TEST(Backbone, SecondDerivativesAreRefused) {
  BackboneOptions options;
  options.width = 16;
  options.image_size = 16;
  options.patch_size = 8;
  for (const char* name : {"resnet8", "resnet18", "vit_tiny"}) {
    for (const bool plain : {false, true}) {
      options.plain = plain;
      const auto net = make_backbone(name, options);
      const Tensor images = noise("images", {2, 3, 16, 16}).to(torch::kFloat).requires_grad_();
      const Tensor sum = net->forward(images).square().sum();
      const std::string said = error_of([&] {
        torch::autograd::grad({sum}, {images}, {}, /*retain_graph=*/true, /*create_graph=*/true);
      });
      EXPECT_EQ(said.find("no second derivative") != std::string::npos, !plain) << name << said;
    }
  }
}

TEST(Backbone, MistakesAreNamed) {
  BackboneOptions options;
  EXPECT_THROW(make_backbone("resnet9", options), Error);
  EXPECT_THROW(make_backbone("resnet8", options)->forward(torch::zeros({1, 3, 30, 30})), Error);
  options.stem = "cifer";
  EXPECT_THROW(make_backbone("resnet18", options), Error);
  options.patch_size = 15;
  EXPECT_THROW(make_backbone("vit_tiny", options), Error);
}

TEST(Backbone, WinogradNamesMistakes) {
  const Tensor x = torch::zeros({1, 16, 4, 4}), weight = torch::zeros({32, 16, 3, 3});
  const auto said = [&](const Tensor& bias, double slope) {
    return error_of([&] { winograd_conv(x, weight, bias, Winograd::kSame, slope); });
  };
  EXPECT_EQ(said(torch::zeros({32}), 1), "nothing was thrown");
  for (const Tensor& bias :
       {torch::zeros({16}), torch::zeros({1, 32}), torch::zeros({}),
        torch::zeros({32}, torch::kDouble), torch::zeros({32, 2}).select(1, 0)})
    EXPECT_NE(said(bias, 1).find("bias"), std::string::npos) << bias.sizes();
  EXPECT_NE(said(Tensor(), 1.5).find("slope 1.5"), std::string::npos);
}

}  // namespace
}  // namespace cpl
