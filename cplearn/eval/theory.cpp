#include "cplearn/eval/theory.h"

#include <torch/torch.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/nn/code_loss.h"

namespace cpl {
namespace {

using torch::Tensor;

// The loss of given probabilities (n x c), one direction, as in Eq. 2; 0 log 0 = 0.
double loss_of(const Tensor& p, const Tensor& p_other, const Tensor& q, double beta,
               PriorForm form) {
  const Tensor mean = p.mean(0);
  const double invariance =
      -torch::xlogy(p, p_other).sum().item<double>() / static_cast<double>(p.size(0));
  const double prior =
      form == PriorForm::kForward
          ? -torch::xlogy(q, mean).sum().item<double>()
          : (torch::xlogy(mean, mean) - torch::xlogy(mean, q)).sum().item<double>();
  return beta * invariance + prior;
}

double entropy(const Tensor& q) { return -torch::xlogy(q, q).sum().item<double>(); }

// Row i belongs to code i * c / n: n / c rows each, those of a code together.
Tensor equal_assignment(std::int64_t rows, std::int64_t codes) {
  return torch::div(torch::arange(rows) * codes, rows, "floor");
}

Tensor hard(const Tensor& assignment, std::int64_t codes, double low) {
  const double high = 1.0 - low * static_cast<double>(codes - 1);
  return torch::full({assignment.size(0), codes}, low, at::kDouble)
      .scatter_(1, assignment.unsqueeze(1), high);
}

double largest(const Tensor& t) { return t.abs().max().item<double>(); }

class Checks {
 public:
  explicit Checks(const TheoryOptions& options) : o_(options) {
    torch::manual_seed(options.seed);
    codes_ = o_.width;
    const Dictionary dictionary(DictionaryKind::kHadamard, o_.width, codes_, o_.seed);
    CPL_CHECK(o_.width > 2 && dictionary.block() == o_.width,
              "theory: width must be the order of a Hadamard matrix "
              "(4, 8, 12, 16, 20, 24, 32, 40, 48, 64, ...) so that W'W = f I, got ",
              o_.width);
    CPL_CHECK(o_.batch >= codes_ && o_.batch % codes_ == 0,
              "theory: batch must be a multiple of the width ", o_.width,
              " so that every code can get as many rows, got ", o_.batch);
    w_ = torch::tensor(dictionary.dense()).view({o_.width, codes_}).to(at::kDouble);
    assignment_ = equal_assignment(o_.batch, codes_);
    uniform_ = torch::full({codes_}, 1.0 / static_cast<double>(codes_), at::kDouble);
    bound_ = -o_.beta * ((1 - rest()) * std::log(1 - rest()) + rest() * std::log(kEpsilon)) +
             std::log(static_cast<double>(codes_));
  }

  std::vector<TheoryCheck> run() {
    lemma();
    theorem();
    corollaries();
    quasi_orthogonality();
    collapses();
    return std::move(list_);
  }

 private:
  double rest() const { return kEpsilon * static_cast<double>(codes_ - 1); }

  void equal(const std::string& statement, const std::string& what, double expected, double found,
             double tolerance) {
    list_.push_back({statement, what, expected, found, tolerance});
  }
  void at_least(const std::string& statement, const std::string& what, double expected,
                double found) {
    list_.push_back({statement, what, expected, found, 1e-12, true});
  }

  void lemma() {
    const std::string name = "Lemma 1 (minima)";
    const Tensor p = hard(assignment_, codes_, kEpsilon);
    equal(name, "loss at the optimum = the bound of Eq. 3", bound_,
          loss_of(p, p, uniform_, o_.beta, PriorForm::kForward), 1e-10);
    equal(name, "matched prior: largest |pbar_j - 1/c|", 0, largest(p.mean(0) - uniform_), 1e-12);
    const Tensor counts = torch::bincount(assignment_, {}, codes_).to(at::kDouble);
    equal(name, "rows per code, |I_max(j)| = n/c",
          static_cast<double>(o_.batch) / static_cast<double>(codes_), counts.max().item<double>(),
          0);
    double lowest = 1e300;
    for (int trial = 0; trial < 200; ++trial) {
      // Feasible: a mixture of rows of the simplex with the smallest allowed probability.
      const Tensor logits = torch::randn({o_.batch, codes_}, at::kDouble) * (0.1 * (1 + trial));
      const Tensor x = kEpsilon + (1 - kEpsilon * static_cast<double>(codes_)) * logits.softmax(1);
      const Tensor y = trial % 2 ? x
                                 : kEpsilon + (1 - kEpsilon * static_cast<double>(codes_)) *
                                                  torch::randn_like(logits).softmax(1);
      lowest = std::min(lowest, loss_of(x, y, uniform_, o_.beta, PriorForm::kForward));
    }
    at_least(name, "lowest loss of 200 other feasible P >= the bound", bound_, lowest);
    // Any prior, eps = 0: rows in proportion to q, and the loss is H(q).
    const Tensor steps = torch::arange(1, codes_ + 1);
    const Tensor rows = torch::repeat_interleave(torch::arange(codes_), steps);
    const Tensor q = steps.to(at::kDouble) / static_cast<double>(rows.size(0));
    const Tensor exact = hard(rows, codes_, 0);
    equal(name, "a prior that is not uniform, eps = 0: loss = H(q)", entropy(q),
          loss_of(exact, exact, q, o_.beta, PriorForm::kForward), 1e-10);
    // The head itself reaches the bound: embeddings on their codes, the theory's scale.
    const Tensor h = w_.t().index_select(0, assignment_);
    const double scale =
        logit_scale(Activation::kTanh, LogitScale::kTheory, o_.width, codes_, o_.batch);
    const CodeLossOptions loss{scale, o_.beta, false, PriorForm::kForward, {}};
    equal(name, "loss of the plain head, embeddings on codes", bound_,
          code_loss_plain(h, h, w_, loss).total.item<double>(), 1e-10);
    WorkerGroup alone;
    const Dictionary dictionary(DictionaryKind::kHadamard, o_.width, codes_, o_.seed);
    const Tensor h32 = h.to(at::kFloat);
    equal(name, "loss of the fused head, embeddings on codes", bound_,
          code_loss_fused(h32, h32, dictionary, loss, alone).total.item<double>(), 1e-5 * bound_);
  }

  // h = alpha w_j + (alpha - 1/sqrt(n)) sum_{k != j} w_k for every row's code j.
  Tensor embedding(double alpha) const {
    const double other = alpha - 1 / std::sqrt(static_cast<double>(o_.batch));
    const Tensor weights = torch::full({o_.batch, codes_}, other, at::kDouble)
                               .scatter_(1, assignment_.unsqueeze(1), alpha);
    return weights.matmul(w_.t());
  }

  void theorem() {
    const std::string name = "Theorem 1 (embedding)";
    const double n = static_cast<double>(o_.batch), c = static_cast<double>(codes_),
                 f = static_cast<double>(o_.width);
    const double tau = f / (std::sqrt(n) * logit_gap(codes_));
    const Tensor target = hard(assignment_, codes_, kEpsilon);
    equal(name, "largest |W'W - f I|", 0,
          largest(w_.t().matmul(w_) - f * torch::eye(codes_, at::kDouble)), 0);
    const std::pair<const char*, double> alphas[] = {
        {"alpha = 1/sqrt(n)", 1 / std::sqrt(n)},
        {"alpha = (1 - 2/c)/sqrt(n)", (1 - 2 / c) / std::sqrt(n)}};
    for (const auto& [label, alpha] : alphas) {
      const Tensor h = embedding(alpha);
      equal(name, str(label, ": |h_i|^2 = f/n"), f / n, h.square().sum(1).max().item<double>(),
            1e-10);
      equal(name, str(label, ": largest |P - extrema|"), 0,
            largest((h.matmul(w_) / tau).softmax(1) - target), 1e-10);
    }
    equal(name, "alpha = 1/sqrt(n): largest |h_i - w_j/sqrt(n)|", 0,
          largest(embedding(1 / std::sqrt(n)) - w_.t().index_select(0, assignment_) / std::sqrt(n)),
          1e-12);
    const double between = (1 - 1 / c) / std::sqrt(n);
    const double norm = embedding(between).square().sum(1).max().item<double>();
    at_least(name, "an alpha between them breaks the norm: |(|h|^2 n/f) - 1| >= 1/(2c)",
             1 / (2 * c), std::abs(norm * n / f - 1));
  }

  // |h(alpha)|^2 = f/n is quadratic in alpha: the distance of its roots, from real embeddings.
  double alpha_distance(std::int64_t codes) const {
    const Dictionary dictionary(DictionaryKind::kHadamard, codes, codes, o_.seed);
    const Tensor w = torch::tensor(dictionary.dense()).view({codes, codes}).to(at::kDouble);
    const double n = static_cast<double>(o_.batch), root = 1 / std::sqrt(n);
    const auto excess = [&](double alpha) {
      const Tensor h = alpha * w.select(1, 0) + (alpha - root) * (w.sum(1) - w.select(1, 0));
      return h.square().sum().item<double>() - static_cast<double>(codes) / n;
    };
    // Through alpha = 0, r, 2r: excess = a x^2 + b x + c with x = alpha / r.
    const double at0 = excess(0), at1 = excess(root), at2 = excess(2 * root);
    const double a = (at2 - 2 * at1 + at0) / 2, b = at1 - at0 - a;
    return root * std::sqrt(b * b - 4 * a * at0) / a;
  }

  void corollaries() {
    const double n = static_cast<double>(o_.batch), f = static_cast<double>(o_.width),
                 c = static_cast<double>(codes_);
    const Tensor h = embedding(1 / std::sqrt(n));
    for (const std::int64_t codes : {16, 128, 1024}) {
      equal("Corollary 1 (alignment)",
            str("c * sqrt(n) * distance between the two alphas at c = ", codes), 2,
            static_cast<double>(codes) * std::sqrt(n) * alpha_distance(codes), 1e-6);
    }
    equal("Corollary 2 (covariance)", "largest |H'H - I|", 0,
          largest(h.t().matmul(h) - torch::eye(o_.width, at::kDouble)), 1e-10);
    const Tensor adjacency = h.matmul(h.t());
    const Tensor same = assignment_.unsqueeze(0).eq(assignment_.unsqueeze(1)).to(at::kDouble);
    equal("Corollary 3 (adjacency)", "largest |HH' - (f/n) blocks|", 0,
          largest(adjacency - f / n * same), 1e-10);
    equal("Corollary 3 (adjacency)", "rows of a block = n/c", n / c,
          adjacency.gt(f / n / 2).sum(1).to(at::kDouble).max().item<double>(), 0);
  }

  void quasi_orthogonality() {
    const std::int64_t codes = 20 * o_.width;
    const double f = static_cast<double>(o_.width);
    for (const DictionaryKind kind : {DictionaryKind::kRademacher, DictionaryKind::kHadamard}) {
      const std::string name = str("Quasi-orthogonality, ", name_of(kDictionaryNames, kind));
      const Coherence found =
          coherence(Dictionary(kind, o_.width, codes, o_.seed), 400000, o_.seed);
      // Pairs are nearly independent: the mean has deviation 1/sqrt(f pairs), the variance about
      // sqrt(2)/(f sqrt(pairs)). Six of them, so that no seed fails by chance. Pairs of one
      // Hadamard block have cosine 0, which takes their share off the variance.
      const double pairs = static_cast<double>(found.pairs);
      const double across = kind == DictionaryKind::kRademacher
                                ? 1.0
                                : 1.0 - (f - 1) / static_cast<double>(codes - 1);
      // All rows but one of a block sum to zero, so the mean over pairs rests on one sign per
      // block: sqrt(2)/c more deviation than i.i.d. signs have.
      const double blocks =
          kind == DictionaryKind::kRademacher ? 0.0 : std::sqrt(2.0) / static_cast<double>(codes);
      equal(name, str("mean cosine of ", found.pairs, " pairs, c = 20 f"), 0, found.mean,
            6 * (1 / std::sqrt(f * pairs) + blocks));
      equal(name, "variance of the cosines = 1/f (times the share of pairs across blocks)",
            across / f, found.variance, 6 * std::sqrt(2.0) / f / std::sqrt(pairs) + 0.01 / f);
    }
  }

  // Costs of collapsed and of spread-out configurations under the reverse prior, n rows, c codes.
  void collapses() {
    const std::string name = "Collapsed configurations (reverse KL)";
    const std::int64_t rows = 16, codes = 1024;
    const double c = static_cast<double>(codes), n = static_cast<double>(rows);
    const Tensor q = torch::full({codes}, 1 / c, at::kDouble);
    const auto cost = [&](const Tensor& p) {
      return loss_of(p, p, q, o_.beta, PriorForm::kReverse);
    };
    equal(name, "every row uniform over all codes: beta log c", o_.beta * std::log(c),
          cost(q.expand({rows, codes})), 1e-10);
    equal(name, "one code for all rows: log c", std::log(c),
          cost(hard(torch::zeros({rows}, at::kLong), codes, 0)), 1e-10);
    for (const std::int64_t m : {1, 4, 64}) {
      Tensor p = torch::zeros({rows, codes}, at::kDouble);
      for (std::int64_t i = 0; i < rows; ++i)
        p[i].slice(0, i * m, (i + 1) * m).fill_(1.0 / static_cast<double>(m));
      equal(name, str("each row over ", m, " codes of its own: (beta - 1) log ", m, " + log(c/n)"),
            (o_.beta - 1) * std::log(static_cast<double>(m)) + std::log(c / n), cost(p), 1e-10);
    }
  }

  TheoryOptions o_;
  std::int64_t codes_ = 0;
  Tensor w_, assignment_, uniform_;
  double bound_ = 0;
  std::vector<TheoryCheck> list_;
};

}  // namespace

bool TheoryCheck::holds() const {
  return at_least ? found >= expected - tolerance : std::abs(found - expected) <= tolerance;
}

std::vector<TheoryCheck> check_theory(const TheoryOptions& options) {
  return Checks(options).run();
}

}  // namespace cpl
