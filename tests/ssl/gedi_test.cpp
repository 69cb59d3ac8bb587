#include "cplearn/ssl/gedi.h"

#include "cplearn/nn/code_loss.h"
#include "cplearn/nn/state.h"
#include "cplearn/ssl/method_options.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

TEST(Gedi, LossAndGradientAreThePapers) {
  const at::Tensor h0 = test::sines(8, 5, 0.1), h1 = test::sines(8, 5, 1.9),
                   classes = test::sines(6, 5, 3.3);
  const CodeLossOptions options{2, 0.25, true, PriorForm::kReverse, {}};
  const CodeLoss loss = code_loss_plain(h0, h1, classes.t(), options);
  test::expect_golden_loss("gedi_nogen", loss.total, {h0, h1, classes});
}

TEST(Langevin, WithoutNoiseIsGradientDescentOnTheEnergy) {
  const at::Tensor w = test::sines(5, 6, 3.3).detach();
  const at::Tensor x =
      langevin([&](const at::Tensor& rows) { return -rows.matmul(w).tanh().logsumexp(1); },
               test::sines(4, 5, 0.1), {7, 0.3, 0});
  test::expect_golden(x, test::methods_golden()["langevin"]);
}

TEST(Gedi, SamplesHaveLessEnergyThanTheirStartAndAreKept) {
  torch::manual_seed(1);
  MethodOptions options;
  options.head.codes = 10;
  options.head.hidden = 32;
  options.image_size = 16;
  GediOptions& own = options.own<GediOptions>();
  own.buffer = 12;
  own.restart = 0;
  own.langevin = {10, 0.5, 0.001};
  BackboneOptions network;
  network.width = 8;
  const auto gedi = make_method(
      "gedi", [&] { return make_backbone("resnet8", network); }, options);
  const at::Tensor before = module_state(*gedi).at("samples").clone();
  const Views views{{{torch::randn({8, 3, 16, 16}), 2}}, 2};
  gedi->step(views, Position());
  const at::Tensor after = module_state(*gedi).at("samples").clone();
  const at::Tensor moved = (after - before).abs().amax({1, 2, 3}).gt(0);
  EXPECT_EQ(moved.sum().item<int>(), 4);  // a batch of them
  EXPECT_TRUE(gedi->is_training());

  gedi->eval();
  const at::Tensor classes = module_state(*gedi).at("classes.weight");
  const auto energy = [&](const at::Tensor& images) {
    const at::NoGradGuard no_grad;
    const at::Tensor h = gedi->embed(gedi->backbone().forward(images));
    return -h.matmul(classes.t()).mul(10).logsumexp(1);
  };
  const at::Tensor fall = (energy(before) - energy(after)).masked_select(moved);
  EXPECT_GT(fall.min().item<double>(), 0) << fall;
}

TEST(Gedi, ASmallBufferIsRefused) {
  MethodOptions options;
  options.head.codes = 10;
  options.image_size = 16;
  options.own<GediOptions>().buffer = 3;
  BackboneOptions network;
  network.width = 8;
  const auto gedi = make_method(
      "gedi", [&] { return make_backbone("resnet8", network); }, options);
  EXPECT_THROW(gedi->step({{{torch::randn({8, 3, 16, 16}), 2}}, 2}, Position()), Error);
}

}  // namespace
}  // namespace cpl
