#include "cplearn/eval/collapse.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/hdc/dictionary.h"

namespace cpl {
namespace {

constexpr std::int64_t kPoints = 1000, kWidth = 64, kCodes = 256;

struct Model {
  at::Tensor embeddings;
  Labels codes;
  at::Tensor probabilities;
};

Labels labels_of(const at::Tensor& t) {
  const at::Tensor c = t.contiguous();
  return {c.data_ptr<std::int64_t>(), c.data_ptr<std::int64_t>() + c.numel()};
}

// Codes by `dictionary` (width of `inputs` x codes) at the theory's scale.
Model with_codes(const at::Tensor& embeddings, const at::Tensor& inputs,
                 const at::Tensor& dictionary) {
  const double scale = 18.4 / static_cast<double>(inputs.size(1));
  const at::Tensor p = at::softmax(at::matmul(inputs, dictionary) * scale, 1);
  return {embeddings, labels_of(p.argmax(1)), p};
}

Model with_codes(const at::Tensor& embeddings) {
  return with_codes(embeddings, embeddings, at::randn({kWidth, kCodes}).sign());
}

// Ten classes on top of a spread in all directions, through tanh as the projector's.
at::Tensor healthy_embeddings() {
  const at::Tensor centres = at::randn({10, kWidth});
  const at::Tensor spectrum = at::arange(1, kWidth + 1).to(at::kFloat).pow(-0.25);
  return at::tanh(centres.index_select(0, at::randint(0, 10, {kPoints}, at::kLong)) +
                  at::randn({kPoints, kWidth}) * spectrum * 2);
}

CollapseReport diagnose(const Model& model) {
  CodeUsage usage(kCodes);
  usage.add(model.probabilities);
  return diagnose_collapse(model.embeddings, model.codes, &usage, {}, {});
}

// Exactly the expected collapse is named; "" for none, not even a warning.
void expect_only(const CollapseReport& report, const std::string& expected) {
  for (const Finding* finding : report.findings()) {
    const bool collapsed = finding->verdict == Verdict::kCollapsed;
    EXPECT_EQ(collapsed, finding->name == expected) << finding->name << ": " << finding->words;
    EXPECT_EQ(collapsed || finding->verdict == Verdict::kWarning, !finding->advice.empty());
  }
  EXPECT_EQ(report.verdict, expected.empty() ? Verdict::kHealthy : Verdict::kCollapsed)
      << report.summary;
  EXPECT_EQ(report.summary, expected.empty() ? "no sign of collapse" : "collapsed: " + expected);
}

class Collapse : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { torch::manual_seed(GetParam()); }
};

TEST_P(Collapse, HealthyRaisesNoAlarm) {
  const Model model = with_codes(healthy_embeddings());
  expect_only(diagnose(model), "");
  const CollapseReport without = diagnose_collapse(model.embeddings, {}, nullptr, {}, {});
  expect_only(without, "");
  EXPECT_EQ(without.cluster.verdict, Verdict::kUnknown);
}

TEST_P(Collapse, ConstantIsRepresentation) {
  for (const double noise : {0.0, 1e-6, 1e-2}) {
    const at::Tensor constant = at::tanh(at::randn({1, kWidth}));
    const at::Tensor x = constant + noise * at::randn({kPoints, kWidth});
    expect_only(diagnose(with_codes(x)), "representation");
    expect_only(diagnose_collapse(x, {}, nullptr, {}, {}), "representation");
  }
  expect_only(diagnose(with_codes(at::zeros({kPoints, kWidth}))), "representation");
}

TEST_P(Collapse, SameProbabilitiesForAllIsRepresentation) {  // beta = 0: the prior alone
  Model model = with_codes(healthy_embeddings());
  model.probabilities = at::softmax(0.01 * at::randn({kPoints, kCodes}), 1);
  expect_only(diagnose(model), "representation");
}

TEST_P(Collapse, ViewsThatDisagreeAreRepresentation) {  // beta = 0, with sharp probabilities
  const Model model = with_codes(healthy_embeddings());
  CodeUsage usage(kCodes);
  usage.add(model.probabilities);
  const auto judged = [&](double nats) {
    return diagnose_collapse(model.embeddings, model.codes, &usage, Agreement{nats}, {});
  };
  expect_only(judged(0.5 * usage.information()), "");
  expect_only(judged(0.02), "representation");
  EXPECT_LT(judged(0.02).representation.value, judged(0.02).representation.threshold);
  // Less than before training, though not little.
  const auto after = [&](double before) {
    return diagnose_collapse(model.embeddings, model.codes, &usage, Agreement{1, before}, {});
  };
  expect_only(after(0.7), "");
  EXPECT_EQ(after(1.2).representation.verdict, Verdict::kWarning);
  expect_only(after(2.2), "representation");
  EXPECT_NEAR(after(2.5).representation.value, 0.4, 1e-12);
  // The embeddings themselves vary: the others can be judged.
  EXPECT_EQ(judged(0.02).dimensional.verdict, Verdict::kHealthy);
}

TEST_P(Collapse, LowRankIsDimensional) {
  for (const double noise : {0.0, 1e-3}) {
    const at::Tensor z = at::randn({kPoints, 3}), w = at::randn({3, kCodes});
    const at::Tensor x =
        at::matmul(z, at::randn({3, kWidth})) + noise * at::randn({kPoints, kWidth});
    // Directions around the subspace as codes, so that all are in use: no cluster collapse.
    const Model model = with_codes(x, z, w / w.norm(2, 0, true));
    expect_only(diagnose(model), "dimensional");
    expect_only(diagnose_collapse(x, {}, nullptr, {}, {}), "dimensional");
  }
}

TEST_P(Collapse, FewCodesIsCluster) {  // beta = 10: one or two codes take everything
  for (const int used : {1, 2, 6}) {
    Model model = with_codes(healthy_embeddings());
    for (auto& code : model.codes) code = code % used;
    model.probabilities = at::zeros({kPoints, kCodes});
    for (std::int64_t i = 0; i < kPoints; ++i) model.probabilities[i][model.codes[i]] = 1;
    expect_only(diagnose(model), "cluster");
  }
}

TEST_P(Collapse, PointsOnTheirCentresIsIntracluster) {
  for (const double noise : {0.0, 1e-2}) {
    const at::Tensor centres = at::randn({150, kWidth});
    const at::Tensor own = at::randint(0, 150, {kPoints}, at::kLong);
    const at::Tensor x = centres.index_select(0, own) + noise * at::randn({kPoints, kWidth});
    const Labels codes = labels_of(own);
    CodeUsage usage(kCodes);
    usage.add(codes);
    expect_only(diagnose_collapse(x, codes, &usage, {}, {}), "intracluster");
  }
  // Without codes k-means finds the centres when they are fewer than its clusters.
  const at::Tensor own = at::randint(0, 30, {kPoints}, at::kLong);
  const at::Tensor x = at::randn({30, kWidth}).index_select(0, own);
  expect_only(diagnose_collapse(x, {}, nullptr, {}, {}), "intracluster");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Collapse, testing::Range(0, 20));

TEST(CollapseAdvice, SpeaksOfBetaOnlyWhereThereIsOne) {
  const at::Tensor constant = at::ones({100, 8});
  CollapseOptions options;
  const auto advice = [&] {
    return diagnose_collapse(constant, {}, nullptr, {}, options).representation.advice;
  };
  EXPECT_NE(advice().find("beta"), std::string::npos);
  options.has_beta = false;
  EXPECT_EQ(advice().find("beta"), std::string::npos);
  EXPECT_NE(advice().find("learning rate"), std::string::npos);
}

TEST(CollapseInputs, RefusesNanAndWrongSizes) {
  EXPECT_THROW(diagnose_collapse(at::full({5, 4}, NAN), {}, nullptr, {}, {}), Error);
  EXPECT_THROW(diagnose_collapse(at::ones({1, 4}), {}, nullptr, {}, {}), Error);
  EXPECT_THROW(diagnose_collapse(at::ones({5, 4}), {1, 2}, nullptr, {}, {}), Error);
}

TEST(WithinShare, IsOneForCodesOfNoMeaningAndUndefinedForSingletons) {
  torch::manual_seed(3);
  const at::Tensor x = at::randn({600, 20});
  EXPECT_NEAR(within_share(x, labels_of(at::randint(0, 200, {600}, at::kLong))), 1, 0.05);
  EXPECT_EQ(within_share(x, labels_of(at::arange(600, at::kLong))), -1);
  EXPECT_EQ(within_share(at::ones({4, 2}), {0, 0, 1, 1}), 0);
}

TEST(CodeUsage, InformationOfHardSoftAndUniform) {
  CodeUsage hard(8);
  hard.add(Labels{0, 1, 2, 3});
  EXPECT_NEAR(hard.information(), std::log(4), 1e-12);
  EXPECT_NEAR(hard.information_limit(), std::log(4), 1e-12);
  EXPECT_NEAR(hard.perplexity(), 4, 1e-12);
  CodeUsage uniform(8);
  uniform.add(at::full({10, 8}, 0.125));
  uniform.add(at::full({6, 8}, 0.125));
  EXPECT_EQ(uniform.points(), 16);
  EXPECT_NEAR(uniform.information(), 0, 1e-7);
  EXPECT_NEAR(uniform.mean_entropy(), std::log(8), 1e-7);
  EXPECT_THROW(hard.add(Labels{8}), Error);
  EXPECT_THROW(hard.add(at::ones({2, 7})), Error);
  EXPECT_THROW(CodeUsage(3).mean(), Error);
}

// The optimum of the lemma: every code matched equally often, eps elsewhere.
CodeUsage optimum(std::int64_t points, std::int64_t codes) {
  const at::Tensor index = at::arange(points, at::kLong).remainder(codes);
  const at::Tensor match = at::one_hot(index, codes).to(at::kDouble);
  CodeUsage usage(codes);
  usage.add(match * (1 - kEpsilon * static_cast<double>(codes)) + kEpsilon);
  return usage;
}

TEST(Certificate, OptimumAttainsTheBound) {
  for (const bool reverse : {true, false}) {
    const CertificateOptions options{0.5, reverse};
    const CodeUsage enough = optimum(60, 20);
    const Certificate full = certificate(enough, enough.mean_entropy(), options);
    EXPECT_NEAR(full.loss, full.bound, 1e-9);
    EXPECT_NEAR(full.attainable, full.bound, 1e-12);
    EXPECT_NEAR(full.information, full.information_limit, 1e-4);

    const CodeUsage few = optimum(8, 20);  // fewer points than codes
    const Certificate part = certificate(few, few.mean_entropy(), options);
    EXPECT_NEAR(part.loss, part.attainable, 1e-9);
    EXPECT_GT(part.attainable, part.bound + 0.5);
    if (reverse) {
      EXPECT_NEAR(part.attainable - part.bound, std::log(20.0 / 8), 1e-5);
    }
  }
}

TEST(Certificate, CollapseStaysAbove) {
  CodeUsage uniform(20), single(20);
  uniform.add(at::full({60, 20}, 0.05));
  single.add(Labels(60, 3));
  for (const CodeUsage* usage : {&uniform, &single}) {
    const Certificate found = certificate(*usage, usage->mean_entropy(), {});
    EXPECT_NEAR(found.information, 0, 1e-6);
    EXPECT_GT(found.loss, found.attainable + 1);
  }
}

}  // namespace
}  // namespace cpl
