#include "cplearn/nn/code_head.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(CodeHead, TrainsSomebodysOwnNetwork) {
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(20, 32), torch::nn::ReLU(),
                            torch::nn::Linear(32, 32));
  CodeHeadOptions options;
  options.codes = 256;
  CodeHead head(32, options);
  auto parameters = net->parameters();
  for (const auto& p : head->parameters()) parameters.push_back(p);
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(1e-2));
  const at::Tensor x = torch::randn({64, 20});
  double first = 0, last = 0;
  for (int step = 0; step < 30; ++step) {
    const CodeLoss loss = head->loss(net->forward(x + 0.1 * torch::randn_like(x)),
                                     net->forward(x + 0.1 * torch::randn_like(x)));
    adam.zero_grad();
    loss.total.backward();
    adam.step();
    if (step == 0) first = loss.total.item<double>();
    last = loss.total.item<double>();
  }
  EXPECT_LT(last, first - 0.5);
  EXPECT_GT(std::get<0>(at::_unique(head->assign(net->forward(x)).code)).size(0), 20);
}

TEST(CodeHead, GradientReachesEveryParameterAndAgreesWithPlainInDouble) {
  for (const Activation activation : {Activation::kTanh, Activation::kL2}) {
    for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
      torch::manual_seed(2);
      CodeHeadOptions options;
      options.codes = 300;
      options.hidden = 24;
      options.activation = activation;
      options.dictionary = kind;
      CodeHead fused(10, options), plain(10, options);
      for (auto& item : plain->named_parameters()) {
        torch::NoGradGuard no_grad;
        item.value().copy_(fused->named_parameters()[item.key()]);
      }
      plain->to(at::kDouble);
      const at::Tensor z0 = torch::randn({16, 10}), z1 = z0 + 0.3 * torch::randn({16, 10});
      fused->loss(z0, z1).total.backward();
      plain->loss(z0.to(at::kDouble), z1.to(at::kDouble))
          .total.backward();  // double: plain operations
      for (auto& item : fused->named_parameters()) {
        const at::Tensor expected = plain->named_parameters()[item.key()].grad();
        // A bias before batch normalisation has no gradient but rounding.
        if (item.key() == "linear.bias") continue;
        ASSERT_TRUE(item.value().grad().defined()) << item.key();
        EXPECT_GT(expected.norm().item<double>(), 0) << item.key();
        EXPECT_LT((item.value().grad() - expected).norm().item<double>(),
                  1e-4 * expected.norm().item<double>())
            << item.key();
      }
    }
  }
}

TEST(CodeHead, SavingTheModuleSavesTheDictionaryInBits) {
  CodeHeadOptions options;
  options.codes = 4096;
  options.seed = 5;
  CodeHead saved(64, options);
  options.seed = 6;
  CodeHead loaded(64, options);
  ASSERT_FALSE(loaded->dictionary().bits() == saved->dictionary().bits());
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded->dictionary().bits(), saved->dictionary().bits());
  std::int64_t bytes = 0;
  for (const auto& buffer : saved->buffers()) bytes += static_cast<std::int64_t>(buffer.nbytes());
  EXPECT_LT(bytes, 4096 / 8 + 64 * 8 + 100);
}

TEST(CodeHead, TheTemperatureDoesNotDependOnTheEvaluationBatch) {
  CodeHeadOptions options;
  options.scale = LogitScale::kAuthor;
  options.codes = 100;
  options.batch = 16;
  CodeHead head(12, options);
  head->eval();
  const at::Tensor z = torch::randn({8, 12});
  const at::Tensor whole = head->assign(z).probability;
  const at::Tensor parts = torch::cat(
      {head->assign(z.slice(0, 0, 1)).probability, head->assign(z.slice(0, 1, 8)).probability});
  EXPECT_LT((whole - parts).abs().max().item<double>(), 1e-5);
}

TEST(CodeHead, WithoutAProjectorEmbeddingsAreTheActivatedFeatures) {
  CodeHeadOptions options;
  options.codes = 64;
  options.projector = false;
  options.activation = Activation::kTanh;
  CodeHead head(12, options);
  EXPECT_TRUE(head->parameters().empty());
  const at::Tensor z = torch::randn({5, 12}).requires_grad_();
  EXPECT_TRUE(head->embed(z).equal(z.tanh()));
  head->loss(z, torch::randn({5, 12})).total.backward();
  EXPECT_GT(z.grad().abs().min().item<double>(), 0);
  options.hidden = 24;
  EXPECT_THROW(CodeHead(12, options), Error);
}

TEST(CodeHead, ByDefaultADimensionHasFourCodes) {
  CodeHeadOptions options;
  options.codes = 256;
  EXPECT_EQ(CodeHead(128, options)->options().hidden, 64);
  EXPECT_EQ(CodeHead(32, options)->options().hidden, 32);
  options.hidden = 100;  // what people write counts
  EXPECT_EQ(CodeHead(128, options)->options().hidden, 100);
  options.hidden = 0;
  options.scale = LogitScale::kTheory;  // and so does the published form
  EXPECT_EQ(CodeHead(128, options)->options().hidden, 128);
}

TEST(CodeHead, AFewCodesStillTrain) {
  for (const std::int64_t codes : {2, 3, 4, 8}) {
    torch::manual_seed(1);
    CodeHeadOptions options;
    options.codes = codes;
    CodeHead head(16, options);
    head->loss(torch::randn({8, 16}), torch::randn({8, 16})).total.backward();
    EXPECT_GT(head->parameters().front().grad().abs().max().item<double>(), 1e-6) << codes;
  }
}

TEST(CodeHead, TrainedCodesHaveNoBlindDirection) {
  CodeHeadOptions options;
  options.codes = options.hidden = 16;
  options.train_dictionary = true;
  CodeHead head(16, options);
  head->eval();
  const at::Tensor z = torch::randn({4, 16}), before = head->embed(z);
  head->dictionary();
  EXPECT_TRUE(at::equal(head->embed(z), before));
}

TEST(CodeHead, DeepProjectorsAndTrainedCodesGetGradients) {
  for (const bool trained : {false, true}) {
    CodeHeadOptions options;
    options.codes = 64;
    options.projector_layers = 3;
    options.projector_width = 20;
    options.hidden = 16;
    options.train_dictionary = trained;
    CodeHead head(12, options);
    const at::Tensor z = torch::randn({16, 12});
    head->loss(z, z + 0.1 * torch::randn_like(z)).total.backward();
    EXPECT_EQ(head->embed(z).size(1), 16);
    bool codes = false;
    for (const auto& item : head->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
      codes = codes || item.key() == "codes";
    }
    EXPECT_EQ(codes, trained);
    head->eval();
    const CodeAssignment assigned = head->assign(z);
    EXPECT_TRUE(assigned.code.equal(head->log_probabilities(z).argmax(1)));
  }
}

TEST(CodeHead, RefusesBadInputByName) {
  CodeHeadOptions options;
  options.codes = 64;
  CodeHead head(12, options);
  EXPECT_THROW(head->loss(torch::randn({4, 11}), torch::randn({4, 11})), Error);
  EXPECT_THROW(head->loss(torch::zeros({0, 12}), torch::zeros({0, 12})), Error);
  EXPECT_THROW(head->loss(torch::randn({1, 12}), torch::randn({1, 12})), Error);  // BatchNorm
  options.beta = -0.1;
  EXPECT_THROW(CodeHead(12, options), Error);
  options.beta = 0.5;
  options.codes = 100000000;
  EXPECT_THROW(CodeHead(12, options), Error);
}

}  // namespace
}  // namespace cpl
