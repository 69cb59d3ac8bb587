#include "cplearn/nn/embedding.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cplearn/hdc/dictionary.h"

namespace cpl {
namespace {

// Standard deviation over the codes of each row's products with them.
at::Tensor logit_deviation(const at::Tensor& h, const Dictionary& dictionary) {
  const at::Tensor w =
      torch::tensor(dictionary.dense()).view({dictionary.width(), dictionary.codes()});
  return at::matmul(h, w).std(1, /*unbiased=*/false);
}

at::Tensor plain(const at::Tensor& x) {
  return torch::nn::functional::normalize(x, torch::nn::functional::NormalizeFuncOptions().dim(1));
}

TEST(Embedding, OneBlockOfCodesSeesEveryPointAlike) {
  torch::manual_seed(1);
  for (const std::int64_t width : {64, 48}) {
    const Dictionary dictionary(DictionaryKind::kHadamard, width, width, 0);
    const at::Tensor blind = blind_direction(dictionary);
    ASSERT_TRUE(blind.defined());
    // Nearly along the direction that softmax does not see: without care, logits that say nothing.
    const at::Tensor x = 0.01 * torch::randn({20, width}) + blind;
    EXPECT_LT(logit_deviation(plain(x), dictionary).max().item<double>(), 0.2);
    const at::Tensor seen = logit_deviation(activate(x, Activation::kL2, blind), dictionary);
    EXPECT_TRUE(at::allclose(seen, at::ones_like(seen), 1e-4, 1e-4)) << seen;
  }
}

// Two blocks have a blind direction where their means are the same, which the seed decides.
TEST(Embedding, TwoBlocksHaveABlindDirectionEveryOtherTime) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dictionary dictionary(DictionaryKind::kHadamard, 16, 32, seed);
    const at::Tensor blind = blind_direction(dictionary);
    const double least = blind.defined() ? 0 : 0.9;
    const at::Tensor along = torch::tensor(dictionary.mean());
    found += blind.defined();
    if (along.norm().item<double>() > 0.1) {
      EXPECT_LE(logit_deviation(plain(along.unsqueeze(0)), dictionary).item<double>(), 1e-3)
          << seed;
    } else {
      EXPECT_GT(logit_deviation(plain(torch::randn({1, 16})), dictionary).item<double>(), least);
    }
  }
  EXPECT_GT(found, 3);
  EXPECT_LT(found, 17);
}

TEST(Embedding, OtherDictionariesHaveNone) {
  EXPECT_FALSE(blind_direction(Dictionary(DictionaryKind::kRademacher, 64, 64, 0)).defined());
  EXPECT_FALSE(blind_direction(Dictionary(DictionaryKind::kHadamard, 64, 96, 0)).defined());
  EXPECT_FALSE(blind_direction(Dictionary(DictionaryKind::kHadamard, 50, 64, 0)).defined());
  EXPECT_FALSE(blind_direction(Dictionary(DictionaryKind::kHadamard, 64, 4096, 0)).defined());
  const at::Tensor x = torch::randn({20, 64});
  EXPECT_TRUE(at::equal(activate(x, Activation::kL2, {}), plain(x)));
}

TEST(Embedding, TheCubeIsTanh) {
  const at::Tensor x = torch::randn({3, 8});
  EXPECT_TRUE(at::equal(activate(x, Activation::kTanh, at::ones({8})), x.tanh()));
}

TEST(Embedding, GradientsEqualDifferences) {
  torch::manual_seed(2);
  const at::Tensor blind = blind_direction(Dictionary(DictionaryKind::kHadamard, 8, 8, 0));
  ASSERT_TRUE(blind.defined());
  const at::Tensor x = torch::randn({2, 8}, at::kDouble).requires_grad_();
  const at::Tensor weight = torch::randn({2, 8}, at::kDouble);
  const auto value = [&](const at::Tensor& at_x) {
    return (activate(at_x, Activation::kL2, blind) * weight).sum();
  };
  value(x).backward();
  const double step = 1e-6;
  for (std::int64_t i = 0; i < 8; ++i) {
    const at::Tensor shift = at::zeros({2, 8}, at::kDouble);
    shift[1][i] = step;
    const double slope =
        (value(x.detach() + shift) - value(x.detach() - shift)).item<double>() / (2 * step);
    EXPECT_NEAR(x.grad()[1][i].item<double>(), slope, 1e-8);
  }
}

}  // namespace
}  // namespace cpl
