#include "cplearn/eval/view_agreement.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

constexpr std::int64_t kRows = 800, kAgreedCodes = 32;

ViewAgreement agreement_of(const at::Tensor& log_p0, const at::Tensor& log_p1) {
  const at::Tensor mean = (0.5 * (log_p0.exp().mean(0) + log_p1.exp().mean(0))).to(at::kDouble);
  ViewAgreement agreement({mean.data_ptr<double>(), mean.data_ptr<double>() + kAgreedCodes});
  for (std::int64_t begin = 0; begin < kRows; begin += 300) {  // in parts, the last one shorter
    const std::int64_t rows = std::min<std::int64_t>(300, kRows - begin);
    agreement.add(log_p0.narrow(0, begin, rows), log_p1.narrow(0, begin, rows));
  }
  return agreement;
}

at::Tensor sharp(const at::Tensor& codes, double logit) {
  return (logit * at::one_hot(codes, kAgreedCodes)).to(at::kFloat).log_softmax(1);
}

at::Tensor random_codes() { return at::randint(0, kAgreedCodes, {kRows}, at::kLong); }

TEST(ViewAgreement, ViewsThatAgreeTellAll) {
  torch::manual_seed(0);
  const at::Tensor codes = at::arange(kRows, at::kLong).remainder(kAgreedCodes);
  const ViewAgreement found = agreement_of(sharp(codes, 100), sharp(codes, 100));
  EXPECT_NEAR(found.information(), std::log(kAgreedCodes), 1e-4);
  EXPECT_NEAR(found.cross_entropy(), 0, 1e-6);
}

TEST(ViewAgreement, NoiseTellsNothingHoweverSharp) {  // beta = 0: the prior alone
  torch::manual_seed(1);
  for (const double logit : {0.1, 3.0, 18.0, 100.0}) {
    const ViewAgreement found =
        agreement_of(sharp(random_codes(), logit), sharp(random_codes(), logit));
    EXPECT_LT(found.information(), 0.01 * std::log(kAgreedCodes)) << logit;
    EXPECT_GE(found.information(), 0);
  }
}

TEST(ViewAgreement, OneCodeOrUniformTellsNothing) {
  const at::Tensor one = sharp(at::zeros({kRows}, at::kLong), 50);
  const at::Tensor uniform = at::zeros({kRows, kAgreedCodes}).log_softmax(1);
  EXPECT_NEAR(agreement_of(one, one).information(), 0, 1e-5);
  EXPECT_NEAR(agreement_of(uniform, uniform).information(), 0, 1e-5);
  EXPECT_NEAR(agreement_of(uniform, uniform).cross_entropy(), std::log(kAgreedCodes), 1e-5);
}

// Half of the views agree, the others are noise. The true information is
// log c - H(1/2 + 1/2c, ...), and a bound must stay below it; sharp probabilities alone would give
// a large negative number.
TEST(ViewAgreement, PartialAgreementCountsAtAnyScale) {
  torch::manual_seed(2);
  const at::Tensor codes = random_codes();
  const at::Tensor other = at::where(at::rand({kRows}) < 0.5, codes, random_codes());
  const ViewAgreement found = agreement_of(sharp(codes, 100), sharp(other, 100));
  EXPECT_LT(std::log(kAgreedCodes) - found.cross_entropy(), -10);
  const double same = 0.5 + 0.5 / kAgreedCodes, rest = 1 - same;
  const double truth =
      std::log(kAgreedCodes) + same * std::log(same) + rest * std::log(rest / (kAgreedCodes - 1));
  EXPECT_GT(found.information(), 0.7 * truth);
  EXPECT_LT(found.information(), 1.1 * truth);
}

TEST(ViewAgreement, CrossEntropyIsTheLosss) {
  torch::manual_seed(3);
  const at::Tensor a = at::randn({kRows, kAgreedCodes}).log_softmax(1),
                   b = at::randn({kRows, kAgreedCodes}).log_softmax(1);
  const double expected =
      -0.5 * ((a.exp() * b).sum(1).mean() + (b.exp() * a).sum(1).mean()).item<double>();
  EXPECT_NEAR(agreement_of(a, b).cross_entropy(), expected, 1e-4);
  EXPECT_THROW(agreement_of(a, at::randn({kRows, 5})), std::exception);
}

}  // namespace
}  // namespace cpl
