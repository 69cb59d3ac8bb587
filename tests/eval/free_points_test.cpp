// Where the loss alone leads, beside what docs/collapse.md derives.
#include "cplearn/eval/free_points.h"

#include <gtest/gtest.h>

#include <string>

namespace cpl {
namespace {

std::string rest(Activation activation, double beta, double correlation, Start start) {
  FreePointsOptions options;
  options.width = 32;
  options.codes = 256;
  options.points = 256;
  options.activation = activation;
  options.beta = beta;
  options.correlation = correlation;
  options.start = start;
  options.steps = 400;
  return regime(optimise_points(options), options);
}

bool collapsed(const std::string& regime) { return regime != "spread" && regime != "on codes"; }

TEST(FreePoints, OnTheSphereNothingCollapsesUpToOneHalf) {
  for (const auto& [name, start] : kStartNames)
    for (const double correlation : {0.2, 1.0}) {
      const std::string regime = rest(Activation::kL2, 0.4, correlation, start);
      EXPECT_FALSE(collapsed(regime))
          << name << ", views correlate " << correlation << ": " << regime;
    }
}

// beta (1 - rho) > 1/2: the constant state attracts.
TEST(FreePoints, OnTheSphereTheConstantStateAttractsWhereTheLawSaysSo) {
  EXPECT_EQ(rest(Activation::kL2, 1, 0.2, Start::kAlike), "constant");
  EXPECT_EQ(rest(Activation::kL2, 1, 0.4, Start::kAlike), "constant");
  EXPECT_FALSE(collapsed(rest(Activation::kL2, 1, 0.9, Start::kAlike)));
}

// rho < 1/2: embeddings that may be short stay so, at every beta.
TEST(FreePoints, InTheCubeTheUniformStateAttractsWhereViewsCorrelateLittle) {
  for (const double beta : {0.25, 0.4}) {
    EXPECT_EQ(rest(Activation::kTanh, beta, 0.2, Start::kShort), "short") << beta;
    EXPECT_EQ(rest(Activation::kTanh, beta, 0.9, Start::kShort), "on codes") << beta;
  }
}

TEST(FreePoints, AreTheSameFromTheSameSeed) {
  FreePointsOptions options;
  options.width = 16;
  options.codes = 64;
  options.points = 32;
  options.correlation = 0.5;
  options.steps = 20;
  EXPECT_EQ(optimise_points(options).loss, optimise_points(options).loss);
}

}  // namespace
}  // namespace cpl
