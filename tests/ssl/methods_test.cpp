// Every row of the table of methods, on every kind of view.

#include "cplearn/ssl/method.h"
#include "cplearn/ssl/method_options.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <set>

#include "cplearn/base/error.h"
#include "cplearn/nn/optim/optimizer.h"
#include "cplearn/nn/state.h"
#include "tests/error_of.h"

namespace cpl {
namespace {

constexpr std::int64_t kBatch = 8;
constexpr Position kMiddle{2, 4, 0, 1};  // past any opening: nothing is frozen

MethodOptions small_options() {
  MethodOptions options;
  options.head.codes = 40;
  options.head.batch = kBatch;
  options.head.hidden = 16;
  options.image_size = 16;
  options.own<SwavOptions>().queue = 20;
  GediOptions& gedi = options.own<GediOptions>();
  gedi.buffer = 16;
  gedi.langevin = {2, 0.1, 0};  // without noise: a batch in parts draws it in another order
  return options;
}

std::shared_ptr<Method> make(const std::string& name, std::int64_t seed = 1,
                             const MethodOptions& options = small_options()) {
  torch::manual_seed(seed);
  BackboneOptions backbone;
  backbone.width = 8;
  return make_method(
      name, [&] { return make_backbone("resnet8", backbone); }, options);
}

Views two_views(std::int64_t batch = kBatch) {
  torch::manual_seed(2);
  return {{{torch::randn({2 * batch, 3, 16, 16}), 2}}, 2};
}

Views multi_crop(std::int64_t batch = kBatch) {
  Views views = two_views(batch);
  views.sizes.push_back({torch::randn({3 * batch, 3, 8, 8}), 3});
  return views;
}

// Batch normalisation takes away what a bias before it adds, whose gradient is then nothing but
// rounding: the backbone's last one where a method normalises first of all. (DINO does not, and
// GEDI's energy goes without batch statistics.)
bool zero_by_definition(const std::string& method, const std::string& parameter) {
  static const std::set<std::string> normalise_first = {
      "cplearn", "barlow", "vicreg", "lejepa", "visreg", "swav", "self_classifier", "gedi_nogen"};
  return parameter == "head.linear.bias" ||
         (parameter == "backbone.block4.conv2.bias" && normalise_first.count(method) > 0);
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, HasAFiniteLossAndAGradientForEveryParameter) {
  for (const Views& views : {two_views(), multi_crop()}) {
    const auto method = make(GetParam());
    const StepResult result = method->step(views, kMiddle);
    ASSERT_TRUE(std::isfinite(result.total.item<double>()));
    ASSERT_FALSE(result.terms.empty());
    for (const auto& [name, value] : result.terms) EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_EQ(result.representations.sizes(), (std::vector<std::int64_t>{kBatch, 8}));
    EXPECT_EQ(result.embeddings.size(0), kBatch);
    result.total.backward();
    for (const auto& item : method->named_parameters()) {
      if (!item.value().requires_grad()) continue;
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      const double largest = item.value().grad().abs().max().item<double>();
      if (zero_by_definition(GetParam(), item.key())) {
        EXPECT_LT(largest, 1e-3) << item.key();
      } else {
        EXPECT_GT(largest, 0) << item.key();
      }
    }
  }
}

TEST_P(EveryMethod, SavedAndLoadedTakesTheSameNextStep) {
  const auto step = [](Method& method, Optimizer& optimizer) {
    torch::manual_seed(3);
    const StepResult result = method.step(two_views(), kMiddle);
    optimizer.zero_grad();
    result.total.backward();
    optimizer.step(1e-2);
    method.after_update(kMiddle);
    return result.total.item<double>();
  };
  const auto first = make(GetParam()), second = make(GetParam(), 99);
  Optimizer first_optimizer(*first, OptimizerOptions()),
      second_optimizer(*second, OptimizerOptions());
  step(*first, first_optimizer);
  NamedTensors saved;
  for (const auto& [name, tensor] : module_state(*first)) saved[name] = tensor.clone();
  copy_tensors(saved, module_state(*second));
  second_optimizer.load_state(first_optimizer.state());
  EXPECT_EQ(step(*first, first_optimizer), step(*second, second_optimizer));
  const NamedTensors other = module_state(*second);
  for (const auto& [name, tensor] : module_state(*first))
    EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
}

TEST_P(EveryMethod, InPartsIsTheSameLossAndGradient) {
  const auto whole = make(GetParam()), parts = make(GetParam());
  parts->set_encoding({4, false});
  const StepResult a = whole->step(two_views(), kMiddle);
  const StepResult b = parts->step(two_views(), kMiddle);
  EXPECT_NEAR(a.total.item<double>(), b.total.item<double>(), 1e-4);
  a.total.backward();
  b.total.backward();
  const auto expected = whole->named_parameters(), found = parts->named_parameters();
  for (const auto& item : expected) {
    if (!item.value().requires_grad() || zero_by_definition(GetParam(), item.key())) continue;
    const at::Tensor x = item.value().grad(), y = found[item.key()].grad();
    ASSERT_TRUE(y.defined()) << item.key();
    EXPECT_LE((x - y).norm().item<double>(), 1e-3 * x.norm().item<double>() + 1e-5) << item.key();
  }
}

// With targets that hold still: DINO's centre moves them, and GEDI's samples are an adversary.
// VISReg stops a gradient, and follows its loss only in larger batches: the quantiles of 8 images
// have a variance of 0.57, so that its shape pulls inwards against its scale.
TEST_P(EveryMethod, AFewStepsLowerTheLoss) {
  MethodOptions options = small_options();
  options.own<DinoOptions>().centre_momentum = 1;
  options.own<GediOptions>().weight = 0;
  const auto method = make(GetParam(), 1, options);
  Optimizer optimizer(*method, OptimizerOptions());
  constexpr std::int64_t kSteps = 20;
  const Views views = multi_crop(GetParam() == "visreg" ? 64 : kBatch);
  double first = 0, last = 0;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    const Position position{i, kSteps, 0, 1};
    const StepResult result = method->step(views, position);
    optimizer.zero_grad();
    result.total.backward();
    optimizer.step(3e-3);
    method->after_update(position);
    last = result.total.item<double>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first - 0.01 * std::abs(first));
}

TEST_P(EveryMethod, NeedsTwoViews) {
  const auto method = make(GetParam());
  EXPECT_THROW(method->step({{{torch::randn({kBatch, 3, 16, 16}), 1}}, 1}, Position()), Error);
}

TEST_P(EveryMethod, EmbedsAndAssigns) {
  const auto method = make(GetParam());
  method->eval();
  const at::Tensor z = torch::randn({5, 8});
  EXPECT_EQ(method->embed(z).size(0), 5);
  if (method->codes() == 0) {
    EXPECT_THROW(method->assign(z), Error);
    return;
  }
  const CodeAssignment found = method->assign(z);
  EXPECT_EQ(found.code.numel(), 5);
  EXPECT_GE(found.code.min().item<std::int64_t>(), 0);
  EXPECT_LT(found.code.max().item<std::int64_t>(), method->codes());
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodRow& row : methods()) names.push_back(row.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryMethod, testing::ValuesIn(method_names()),
                         [](const auto& row) { return row.param; });

TEST(Position, AnOpeningIsAtMostAQuarter) {
  const auto opening = [](std::int64_t step, double wanted) {
    return Position{step, 100, step / 10, 10}.opening(wanted);
  };
  EXPECT_EQ(opening(0, 1), 0);
  EXPECT_EQ(opening(5, 1), 0.5);
  EXPECT_EQ(opening(10, 1), 1);
  EXPECT_EQ(opening(99, 1), 1);
  EXPECT_EQ(opening(24, 5), 0.96);
  EXPECT_EQ(opening(25, 5), 1);
  EXPECT_EQ(opening(0, 0), 1);
}

TEST(Methods, AnUnknownNameListsTheKnownOnes) {
  EXPECT_NE(error_of([] { make("simclr"); }).find("cplearn"), std::string::npos);
}

TEST(Encode, Bf16AgreesToItsDigitsAndLeavesAutocastAsItWas) {
  torch::manual_seed(1);
  BackboneOptions options;
  options.width = 8;
  const auto net = make_backbone("resnet8", options);
  const at::Tensor images = torch::randn({4, 3, 16, 16});
  const at::Tensor exact = encode(*net, images, {1, false}),
                   rough = encode(*net, images, {1, true});
  EXPECT_EQ(rough.scalar_type(), at::kFloat);
  EXPECT_LE((exact - rough).norm().item<double>(), 0.03 * exact.norm().item<double>());
  EXPECT_TRUE(torch::equal(exact, encode(*net, images, {1, false})));
}

}  // namespace
}  // namespace cpl
