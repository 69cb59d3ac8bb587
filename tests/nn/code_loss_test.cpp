// The fused loss against the oracle in double, and the oracle against finite differences.

#include "cplearn/nn/code_loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/simd/isa.h"
#include "tests/dist/thread_group.h"
#include "tests/error_of.h"

namespace cpl {
namespace {

at::Tensor dense(const Dictionary& dictionary, at::ScalarType type) {
  return torch::tensor(dictionary.dense()).view({dictionary.width(), dictionary.codes()}).to(type);
}

at::Tensor embeddings(std::int64_t rows, std::int64_t width, std::int64_t seed) {
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  return torch::randn({rows, width}).tanh();
}

struct Case {
  std::int64_t width, codes, rows;
  DictionaryKind kind = DictionaryKind::kHadamard;
  PriorForm prior = PriorForm::kReverse;
  bool symmetric = true;
  LogitScale scale = LogitScale::kTheory;
  bool target = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "width " << c.width << " codes " << c.codes << " rows " << c.rows
             << (c.kind == DictionaryKind::kHadamard ? " hadamard" : " rademacher") << " "
             << name_of(kPriorFormNames, c.prior) << (c.symmetric ? "" : " one-directional")
             << (c.scale == LogitScale::kTheory ? "" : " author") << (c.target ? " q" : "")
             << " on " << simd::instruction_set();
}

// Fused in fp32 against plain in double: loss within 1e-5, gradients within 1e-4 of their norm.
void expect_agreement(const Case& c) {
  const Dictionary dictionary(c.kind, c.width, c.codes, 7);
  CodeLossOptions options{logit_scale(Activation::kTanh, c.scale, c.width, c.codes, c.rows),
                          0.7,
                          c.symmetric,
                          c.prior,
                          {}};
  if (c.target) {
    const at::Tensor q = torch::rand({c.codes}) + 0.1;
    options.target = q / q.sum();
  }
  at::Tensor h[2], exact[2];
  for (int v = 0; v < 2; ++v) {
    h[v] = embeddings(c.rows, c.width, 10 + v).requires_grad_();
    exact[v] = h[v].detach().to(at::kDouble).requires_grad_();
  }
  WorkerGroup alone;
  const CodeLoss fused = code_loss_fused(h[0], h[1], dictionary, options, alone);
  const CodeLoss plain =
      code_loss_plain(exact[0], exact[1], dense(dictionary, at::kDouble), options);
  // Where a value is exactly zero (one code, or codes that are all equal) there is nothing to be
  // relative to: the floors are the rounding of fp32 at the size of a logit and of scale * |w_j|.
  const double logit = c.width * options.scale;
  const auto expect_close = [&](const at::Tensor& found, const at::Tensor& expected) {
    const double value = expected.item<double>();
    EXPECT_NEAR(found.item<double>(), value, 1e-5 * std::abs(value) + 2e-7 * logit) << c;
  };
  expect_close(fused.total, plain.total);
  expect_close(fused.invariance, plain.invariance);
  expect_close(fused.prior, plain.prior);
  expect_close(fused.entropy, plain.entropy);
  EXPECT_LT((fused.mean - plain.mean).abs().sum().item<double>(), 2e-5) << c;
  fused.total.backward();
  plain.total.backward();
  for (int v = 0; v < 2; ++v) {
    const at::Tensor expected = exact[v].grad();
    const double norm = expected.norm().item<double>();
    const double error = (h[v].grad() - expected).norm().item<double>();
    EXPECT_LE(error, 1e-4 * norm + 5e-7 * options.scale * std::sqrt(c.width))
        << c << " view " << v << " norm " << norm;
  }
}

TEST(CodeLoss, FusedAgreesWithPlainOverShapes) {
  const std::int64_t batches[] = {1, 2, 3, 64, 257};
  std::size_t next = 0;
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
    for (const std::int64_t width : {1, 7, 10, 12, 48, 100, 128, 256, 384, 512, 1000, 2048}) {
      for (const std::int64_t codes :
           {std::int64_t{1}, std::int64_t{2}, width, width + 1, 3 * width + 5})
        expect_agreement({width, codes, batches[(next + next / 5) % 5], kind}), ++next;
    }
    for (const std::int64_t batch : batches) expect_agreement({128, 1000, batch, kind});
    expect_agreement({100, 20000, 3, kind});
    expect_agreement({512, 20000, 2, kind});
    expect_agreement({2048, 5000, 3, kind});
  }
}

TEST(CodeLoss, FusedAgreesWithPlainOverForms) {
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
    for (const PriorForm prior : {PriorForm::kForward, PriorForm::kReverse, PriorForm::kOthers}) {
      for (const bool symmetric : {true, false}) {
        for (const bool target : {true, false}) {
          for (const LogitScale scale : {LogitScale::kTheory, LogitScale::kAuthor})
            expect_agreement({48, 301, 19, kind, prior, symmetric, scale, target});
        }
      }
    }
  }
}

TEST(CodeLoss, EveryInstructionSetAgrees) {
  for (const std::string& name : simd::instruction_sets()) {
    simd::force_instruction_set(name);
    EXPECT_EQ(simd::instruction_set(), name);
    for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
      for (const std::int64_t width : {1, 7, 10, 12, 20, 48, 100, 128, 384, 512}) {
        expect_agreement({width, 2 * width + 3, 17, kind});
        expect_agreement(
            {width, 130, 3, kind, PriorForm::kForward, false, LogitScale::kAuthor, true});
        expect_agreement({width, 2 * width + 3, 17, kind, PriorForm::kOthers});
      }
      expect_agreement({2048, 2050, 5, kind});
    }
    for (const std::int64_t order : {16, 192, 320, 1536})  // where tiles share a level
      expect_agreement({order, 2 * order + 3, 17});
    // Every order that has tables of products, the last tile in part; too few tiles for them;
    // logits that are not bounded. With one thread, because several share out the tiles.
    at::set_num_threads(1);
    for (const std::int64_t order : {64, 128, 256, 512}) {
      expect_agreement({order, 9 * order + order / 2 + 3, 33});
      expect_agreement({order - 3, 8 * order, 33});
      expect_agreement({order, 7 * order, 33});
      Case author{order, 9 * order, 33};
      author.scale = LogitScale::kAuthor;
      expect_agreement(author);
    }
    at::set_num_threads(2);
  }
  simd::force_instruction_set("");
}

TEST(CodeLoss, PlainAgreesWithFiniteDifferences) {
  for (const PriorForm prior : {PriorForm::kForward, PriorForm::kReverse, PriorForm::kOthers}) {
    for (const bool symmetric : {true, false}) {
      const Dictionary dictionary(DictionaryKind::kHadamard, 6, 11, 3);
      const at::Tensor w = dense(dictionary, at::kDouble);
      at::Tensor h0 = embeddings(4, 6, 1).to(at::kDouble).requires_grad_();
      at::Tensor h1 = embeddings(4, 6, 2).to(at::kDouble).requires_grad_();
      const CodeLossOptions options{1.3, 0.7, symmetric, prior, {}};
      code_loss_plain(h0, h1, w, options).total.backward();
      torch::NoGradGuard no_grad;
      for (at::Tensor h : {h0, h1}) {
        auto values = h.flatten();
        const auto gradient = h.grad().flatten();
        for (std::int64_t i = 0; i < values.size(0); ++i) {
          const double step = 1e-5, here = values[i].item<double>();
          values[i] = here + step;
          const double up = code_loss_plain(h0, h1, w, options).total.item<double>();
          values[i] = here - step;
          const double down = code_loss_plain(h0, h1, w, options).total.item<double>();
          values[i] = here;
          EXPECT_NEAR(gradient[i].item<double>(), (up - down) / (2 * step), 1e-8);
        }
      }
    }
  }
}

TEST(CodeLoss, ExtremeLogitsStayFinite) {
  // Perfectly aligned embeddings at the author's scale: a margin of 147, where a naive loss is NaN.
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
    for (const PriorForm prior : {PriorForm::kForward, PriorForm::kReverse, PriorForm::kOthers}) {
      for (const double sharpness : {8.0, 100.0}) {
        const Dictionary dictionary(kind, 64, 200, 5);
        const at::Tensor w = dense(dictionary, at::kFloat);
        const at::Tensor aligned = w.t().slice(0, 0, 64).contiguous();
        at::Tensor h[2], exact[2];
        for (int v = 0; v < 2; ++v) {
          h[v] = aligned.clone().requires_grad_();
          exact[v] = aligned.to(at::kDouble).requires_grad_();
        }
        const CodeLossOptions options{sharpness * 18.4 / 64, 0.5, true, prior, {}};
        WorkerGroup alone;
        const CodeLoss fused = code_loss_fused(h[0], h[1], dictionary, options, alone);
        const CodeLoss plain = code_loss_plain(exact[0], exact[1], w.to(at::kDouble), options);
        fused.total.backward();
        plain.total.backward();
        const double expected = plain.total.item<double>();
        EXPECT_NEAR(fused.total.item<double>(), expected, 1e-5 * std::abs(expected) + 1e-4);
        ASSERT_TRUE(h[0].grad().isfinite().all().item<bool>());
        const double norm = exact[0].grad().norm().item<double>();
        EXPECT_LE((h[0].grad() - exact[0].grad()).norm().item<double>(),
                  1e-4 * norm + 1e-6 * options.scale * 8);
      }
    }
  }
}

TEST(CodeLoss, IsDeterministic) {
  const Dictionary dictionary(DictionaryKind::kHadamard, 128, 5000, 1);
  const CodeLossOptions options{18.0 / 128, 0.5, true, PriorForm::kReverse, {}};
  WorkerGroup alone;
  at::set_num_threads(2);
  at::Tensor first;
  for (int repeat = 0; repeat < 5; ++repeat) {
    at::Tensor h0 = embeddings(64, 128, 1).requires_grad_(), h1 = embeddings(64, 128, 2);
    code_loss_fused(h0, h1, dictionary, options, alone).total.backward();
    if (repeat == 0) first = h0.grad().clone();
    EXPECT_TRUE(torch::equal(first, h0.grad()));
  }
}

TEST(CodeLoss, ThreadsAgree) {
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
    const Dictionary dictionary(kind, 64, 3000, 1);
    const CodeLossOptions options{18.0 / 64, 0.5, true, PriorForm::kReverse, {}};
    WorkerGroup alone;
    at::Tensor gradient[2];
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      at::Tensor h0 = embeddings(5, 64, 1).requires_grad_(), h1 = embeddings(5, 64, 2);
      const CodeLoss loss = code_loss_fused(h0, h1, dictionary, options, alone);
      loss.total.backward();
      gradient[threads - 1] = h0.grad();
      const torch::NoGradGuard no_gradient;
      EXPECT_EQ(code_loss_fused(h0, h1, dictionary, options, alone).total.item<float>(),
                loss.total.item<float>());
    }
    EXPECT_LT((gradient[0] - gradient[1]).norm().item<double>(),
              1e-6 * gradient[0].norm().item<double>());
  }
}

class CodeLossOfWidth : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(CodeLossOfWidth, TwoWorkersEqualOneOnTheSameBatch) {
  const std::int64_t width = GetParam();
  const Dictionary dictionary(DictionaryKind::kHadamard, width, 10 * width + 20, 1);
  for (const PriorForm prior : {PriorForm::kReverse, PriorForm::kOthers}) {
    const CodeLossOptions options{18.0 / static_cast<double>(width), 0.5, true, prior, {}};
    at::Tensor h0 = embeddings(32, width, 1).requires_grad_(),
               h1 = embeddings(32, width, 2).requires_grad_();
    WorkerGroup alone;
    const CodeLoss whole = code_loss_fused(h0, h1, dictionary, options, alone);
    whole.total.backward();
    at::Tensor gradient[2];
    double loss[2];
    test::as_two_workers([&](test::ThreadGroup& group) {
      const int rank = group.rank();
      at::Tensor a = h0.detach().slice(0, rank * 16, rank * 16 + 16).clone().requires_grad_();
      at::Tensor b = h1.detach().slice(0, rank * 16, rank * 16 + 16).clone().requires_grad_();
      const CodeLoss part = code_loss_fused(a, b, dictionary, options, group);
      part.total.backward();
      gradient[rank] = a.grad();
      loss[rank] = part.total.item<double>();
    });
    EXPECT_NEAR(loss[0], whole.total.item<double>(), 1e-5);
    EXPECT_EQ(loss[0], loss[1]);
    // Workers average the gradients of parameters behind these.
    const at::Tensor joined = torch::cat({gradient[0], gradient[1]}) / 2;
    EXPECT_LT((joined - h0.grad()).norm().item<double>(), 1e-5 * h0.grad().norm().item<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTables, CodeLossOfWidth, ::testing::Values(48, 128));

// Rows that sit on their codes: every factor of the largest power is the same, and so is its error.
TEST(CodeLoss, KeepsItsDigitsOnTheCodes) {
  const std::int64_t width = 512, codes = 9 * width, rows = 64;
  const Dictionary dictionary(DictionaryKind::kHadamard, width, codes, 1);
  const at::Tensor w = dense(dictionary, at::kDouble);
  const at::Tensor h = w.slice(1, 0, rows * 70, 70).t().contiguous();
  const CodeLossOptions options{
      logit_scale(Activation::kTanh, LogitScale::kTheory, width, codes, rows),
      0.5,
      true,
      PriorForm::kReverse,
      {}};
  WorkerGroup alone;
  const CodeLoss fused =
      code_loss_fused(h.to(at::kFloat), h.to(at::kFloat), dictionary, options, alone);
  const CodeLoss plain = code_loss_plain(h, h, w, options);
  EXPECT_NEAR(fused.invariance.item<double>(), plain.invariance.item<double>(), 1e-5);
  EXPECT_NEAR(fused.prior.item<double>() / plain.prior.item<double>(), 1.0, 1e-5);
  EXPECT_LE(assign_codes(h, dictionary, options.scale).probability.max().item<double>(), 1.0);
}

TEST(CodeLoss, AssignsTheArgmax) {
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher}) {
    const Dictionary dictionary(kind, 64, 777, 1);  // enough tiles for tables
    const at::Tensor h = embeddings(37, 64, 4);
    const CodeAssignment assignment = assign_codes(h, dictionary, 0.2);
    const at::Tensor p = torch::matmul(h, dense(dictionary, at::kFloat)).mul(0.2).softmax(1);
    EXPECT_TRUE(torch::equal(assignment.code, p.argmax(1)));
    EXPECT_LT((assignment.probability - std::get<0>(p.max(1))).abs().max().item<double>(), 1e-5);
  }
}

TEST(CodeLoss, RefusesBadInputByName) {
  const Dictionary dictionary(DictionaryKind::kHadamard, 8, 16, 1);
  WorkerGroup alone;
  const at::Tensor good = embeddings(4, 8, 1);
  const CodeLossOptions options{1.0, 0.5, true, PriorForm::kReverse, {}};
  const auto loss = [&](const at::Tensor& a, const at::Tensor& b, const CodeLossOptions& o) {
    return error_of([&] { code_loss_fused(a, b, dictionary, o, alone); });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  at::Tensor nan = good.clone();
  nan[2][3] = std::nan("");
  has(loss(good, nan, options), "row 2 of h1 contains NaN");
  has(loss(embeddings(4, 9, 1), good, options), "h0 must be rows x 8");
  has(loss(good, embeddings(5, 8, 1), options), "as many rows, got 4 and 5");
  has(loss(torch::zeros({0, 8}), torch::zeros({0, 8}), options), "h0 has no rows");
  CodeLossOptions bad = options;
  bad.beta = -1;
  has(loss(good, good, bad), "beta must be a number >= 0, got -1");
  bad = options;
  bad.target = torch::ones({16});
  has(loss(good, good, bad), "must sum to 1");
  bad.target = torch::ones({15}) / 15;
  has(loss(good, good, bad), "one probability per code (16)");
  bad = options;
  bad.prior = PriorForm::kOthers;
  has(loss(embeddings(1, 8, 1), embeddings(1, 8, 2), bad), "a batch of at least 2 images, got 1");
  has(error_of([] { Dictionary(DictionaryKind::kHadamard, 8, 100000000, 1); }),
      "codes must be under 1/eps");
  has(error_of([] { Dictionary(DictionaryKind::kHadamard, 0, 16, 1); }), "width must be between 1");
  has(error_of([] { logit_gap(200000000); }), "codes must be under 1/eps");
}

TEST(CodeLoss, TheoryScalePutsAnAlignedLogitAtTheGap) {
  for (const std::int64_t codes : {10, 1000, 16384}) {
    const double gap = logit_gap(codes);
    EXPECT_NEAR(64 * logit_scale(Activation::kTanh, LogitScale::kTheory, 64, codes, 1), gap, 1e-9);
    EXPECT_NEAR(8 * logit_scale(Activation::kL2, LogitScale::kTheory, 64, codes, 1), gap, 1e-9);
    EXPECT_NEAR(logit_scale(Activation::kTanh, LogitScale::kAuthor, 64, codes, 25) / 5,
                logit_scale(Activation::kTanh, LogitScale::kTheory, 64, codes, 25), 1e-12);
  }
}

}  // namespace
}  // namespace cpl
