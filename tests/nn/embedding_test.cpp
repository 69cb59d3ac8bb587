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

TEST(Embedding, OneBlockOfCodesSeesEveryPointAlike) {
  torch::manual_seed(1);
  const Dictionary dictionary(DictionaryKind::kHadamard, 64, 64, 0);
  const at::Tensor mean = torch::tensor(dictionary.mean());
  EXPECT_NEAR(mean.norm().item<double>(), 1, 1e-6);
  // Nearly along the direction that softmax does not see: without care, logits that say nothing.
  const at::Tensor x = 0.01 * torch::randn({20, 64}) + mean;
  EXPECT_LT(logit_deviation(torch::nn::functional::normalize(
                                x, torch::nn::functional::NormalizeFuncOptions().dim(1)),
                            dictionary)
                .max()
                .item<double>(),
            0.2);
  const at::Tensor seen = logit_deviation(activate(x, Activation::kL2, mean), dictionary);
  EXPECT_TRUE(at::allclose(seen, at::ones_like(seen), 1e-4, 1e-4)) << seen;
}

TEST(Embedding, ManyBlocksLeaveItAlmostAsItWas) {
  torch::manual_seed(1);
  const Dictionary dictionary(DictionaryKind::kHadamard, 64, 4096, 0);
  const at::Tensor mean = torch::tensor(dictionary.mean());
  const at::Tensor h = activate(torch::randn({20, 64}), Activation::kL2, mean);
  EXPECT_TRUE(at::allclose(h.norm(2, 1), at::ones({20})));
  EXPECT_GT(logit_deviation(h, dictionary).min().item<double>(), 0.98);
}

TEST(Embedding, TheCubeIsTanh) {
  const at::Tensor x = torch::randn({3, 8});
  EXPECT_TRUE(at::equal(activate(x, Activation::kTanh, at::ones({8})), x.tanh()));
}

TEST(Embedding, GradientsEqualDifferences) {
  torch::manual_seed(2);
  const at::Tensor mean = torch::tensor(Dictionary(DictionaryKind::kHadamard, 8, 8, 0).mean());
  const at::Tensor x = torch::randn({2, 8}, at::kDouble).requires_grad_();
  const at::Tensor weight = torch::randn({2, 8}, at::kDouble);
  const auto value = [&](const at::Tensor& at_x) {
    return (activate(at_x, Activation::kL2, mean) * weight).sum();
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
