#include "cplearn/eval/spectrum.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>
#include <numeric>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(Spectrum, EqualsSingularValuesTallAndWide) {
  torch::manual_seed(1);
  for (const auto& [n, d] : {std::pair{200, 12}, std::pair{9, 30}}) {
    const at::Tensor x = at::randn({n, d}) * torch::linspace(0.1, 3, d) + 2;
    for (const bool centred : {true, false}) {
      const at::Tensor z =
          x.to(at::kDouble) - (centred ? x.to(at::kDouble).mean(0) : at::zeros({d}));
      const at::Tensor s = std::get<1>(at::svd(z)).square() / n;
      const std::vector<double> found = covariance_spectrum(x, centred);
      ASSERT_EQ(static_cast<std::int64_t>(found.size()), std::min(n, d));
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], s[static_cast<std::int64_t>(i)].item<double>(), 1e-9);
    }
  }
}

TEST(Spectrum, EffectiveRankCountsEqualDirections) {
  EXPECT_NEAR(effective_rank({4, 4, 4, 4, 0, 0}), 4, 1e-12);
  EXPECT_NEAR(effective_rank({7}), 1, 1e-12);
  EXPECT_EQ(effective_rank({0, 0}), 0);
  const double p = 2.0 / 3;  // singular values 2 and 1
  EXPECT_NEAR(effective_rank({4, 1}), std::exp(-p * std::log(p) - (1 - p) * std::log(1 - p)),
              1e-12);
  EXPECT_EQ(directions_in_use({1, 1e-5, 1e-7, 0}), 2);
  EXPECT_EQ(directions_in_use({0, 0}), 0);
}

TEST(Spectrum, PowerLawFindsItsExponent) {
  for (const double alpha : {0.0, 0.5, 1.0, 2.5}) {
    std::vector<double> spectrum(100);
    for (std::size_t i = 0; i < 100; ++i) spectrum[i] = 3 * std::pow(i + 1.0, -alpha);
    EXPECT_NEAR(power_law(spectrum).alpha, alpha, 1e-10);
    EXPECT_NEAR(power_law(spectrum, 11, 50).alpha, alpha, 1e-10);
    EXPECT_NEAR(power_law(spectrum).fit, 1, 1e-9);
  }
  EXPECT_EQ(power_law({5, 0, 0}).alpha, 0);  // one value has no slope
  EXPECT_THROW(covariance_spectrum(at::full({3, 3}, NAN), true), Error);
}

}  // namespace
}  // namespace cpl
