// cplearn bench head: loss and gradient of both views, fused beside the straightforward graph.

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cmath>

#include "cli/engine/bench.h"
#include "cplearn/base/error.h"
#include "cplearn/base/machine.h"
#include "cplearn/nn/code_loss.h"
#include "cplearn/simd/isa.h"

namespace cpl::cli {
namespace {

struct Cost {
  Timing timing;
  double seconds = 0;  // the best
  double extra_bytes = 0;
};

// Embeddings of both views; each call of step() is one forward and backward pass.
struct Problem {
  at::Tensor h0, h1;
  CodeLossOptions loss;

  explicit Problem(const BenchHeadArguments& o) {
    torch::manual_seed(1);
    h0 = torch::randn({o.batch, o.width}).tanh().requires_grad_();
    h1 = torch::randn({o.batch, o.width}).tanh().requires_grad_();
    loss = {logit_scale(Activation::kTanh, o.scale, o.width, o.codes, o.batch,
                        resolve_deviation(0, o.prior, o.codes)),
            o.beta,
            true,
            o.prior,
            {}};
  }

  double backward(const CodeLoss& value) {
    h0.mutable_grad() = at::Tensor();
    h1.mutable_grad() = at::Tensor();
    value.total.backward();
    return value.total.item<double>();
  }
};

// What anybody would write, from the authors' formula: S = scale * H W, log-softmax, the two terms.
CodeLoss straightforward(const Problem& p, const at::Tensor& w) {
  if (p.loss.prior != PriorForm::kReverse) return code_loss_plain(p.h0, p.h1, w, p.loss);
  const auto codes = static_cast<double>(w.size(1));
  const at::Tensor l0 = torch::matmul(p.h0, w).mul(p.loss.scale).log_softmax(1);
  const at::Tensor l1 = torch::matmul(p.h1, w).mul(p.loss.scale).log_softmax(1);
  const at::Tensor p0 = l0.exp(), p1 = l1.exp();
  const at::Tensor invariance = -0.5 * ((p0 * l1).sum(1).mean() + (p1 * l0).sum(1).mean());
  const at::Tensor m0 = p0.mean(0), m1 = p1.mean(0);
  const at::Tensor prior =
      0.5 * ((m0 * (codes * m0 + 1e-30).log()).sum() + (m1 * (codes * m1 + 1e-30).log()).sum());
  return {p.loss.beta * invariance + prior, {}, {}, {}, {}};
}

// Everything a way of computing needs, from nothing: its dictionary, a step, its peak of memory.
template <class Prepare, class Step>
Cost measure(int steps, Prepare prepare, Step step) {
  reset_peak_memory();
  const std::int64_t before = resident_memory();
  auto prepared = prepare();
  step(prepared);
  Cost cost;
  cost.extra_bytes = static_cast<double>(std::max<std::int64_t>(0, peak_memory() - before));
  StepClock clock;
  clock.run(steps, [&] { step(prepared); });
  cost.timing = clock.timing();
  cost.seconds = cost.timing.best;
  return cost;
}

Cost time_fused(const BenchHeadArguments& o, Problem& problem, double* loss = nullptr) {
  WorkerGroup alone;
  return measure(
      o.steps, [&] { return Dictionary(o.dictionary, o.width, o.codes, 0); },
      [&](const Dictionary& dictionary) {
        const double value = problem.backward(
            code_loss_fused(problem.h0, problem.h1, dictionary, problem.loss, alone));
        if (loss) *loss = value;
      });
}

void print_growth(BenchHeadArguments o, const Common& common) {
  TextTable table({"codes", "batch", "ms", "ns per logit"});
  const auto row = [&] {
    Problem problem(o);
    const double seconds = time_fused(o, problem).seconds;
    table.add({std::to_string(o.codes), std::to_string(o.batch), readable(seconds * 1e3),
               readable(seconds * 1e9 / (2.0 * static_cast<double>(o.codes * o.batch)))});
  };
  const BenchHeadArguments given = o;
  for (std::int64_t codes = 4096; codes <= (std::int64_t{1} << 20); codes *= 4) {
    o.codes = codes;
    row();
  }
  o = given;
  for (std::int64_t batch = 16; batch <= 1024; batch *= 4) {
    o.batch = batch;
    row();
  }
  common.say() << "\n" << table.str();
}

}  // namespace

int run_bench_head(const BenchHeadArguments& o, const Common& common) {
  Problem problem(o);
  const double logits = 2.0 * static_cast<double>(o.batch * o.codes);
  Json result = {{"width", o.width},
                 {"codes", o.codes},
                 {"batch", o.batch},
                 {"dictionary", name_of(kDictionaryNames, o.dictionary)},
                 {"threads", at::get_num_threads()},
                 {"instruction_set", simd::instruction_set()}};

  double fused_loss = 0;
  const Cost fused = time_fused(o, problem, &fused_loss);
  const at::Tensor fused_gradient[2] = {problem.h0.grad(), problem.h1.grad()};
  const double clock = measure_clock();
  const double lanes = static_cast<double>(simd::lanes());
  const double cycles = fused.seconds * clock * at::get_num_threads() / logits;
  const Dictionary dictionary(o.dictionary, o.width, o.codes, 0);
  const double operations =
      simd::operations_per_logit(dictionary.view(), o.scale == LogitScale::kTheory);
  const double limit = operations / (2 * lanes);
  const double bytes_per_code =
      static_cast<double>(dictionary.bits().size()) / static_cast<double>(o.codes);

  result["fused_seconds"] = fused.seconds;
  put_timing(result, "fused_", fused.timing);
  result["fused_extra_mb"] = fused.extra_bytes / 1e6;
  result["bytes_per_code"] = bytes_per_code;
  result["cycles_per_logit"] = cycles;
  result["cycles_per_logit_limit"] = limit;
  TextTable table({"head", "seconds", "median", "spread", "extra memory", "bytes per code"});
  const auto row = [&table](const char* name, const Cost& cost, double bytes) {
    table.add({name, readable_seconds(cost.seconds), readable_seconds(cost.timing.median),
               spread_text(cost.timing), readable_bytes(cost.extra_bytes), readable(bytes)});
  };
  row("fused", fused, bytes_per_code);

  // Ten n x c tensors of each view are alive at once in forward and backward, and the dictionary.
  const double needed = 4.0 * static_cast<double>(o.width * o.codes) + 10 * 4 * logits;
  const bool fits = needed < 0.8 * static_cast<double>(available_memory());
  std::string note;
  bool agree = true;
  if (o.plain && fits) {
    const std::vector<float> dense = dictionary.dense();
    double plain_loss = 0;
    const Cost plain = measure(
        std::min(o.steps, 5),
        [&] {
          return torch::tensor(dense).view({o.width, o.codes});
        },
        [&](const at::Tensor& w) { plain_loss = problem.backward(straightforward(problem, w)); });
    double worst = 0;
    for (int v = 0; v < 2; ++v) {
      const at::Tensor expected = v == 0 ? problem.h0.grad() : problem.h1.grad();
      worst = std::max(worst, (fused_gradient[v] - expected).norm().item<double>() /
                                  expected.norm().item<double>());
    }
    const double loss_error = std::abs(fused_loss - plain_loss) / std::abs(plain_loss);
    agree = loss_error < 1e-5 && worst < 1e-4;
    result["plain_seconds"] = plain.seconds;
    put_timing(result, "plain_", plain.timing);
    result["plain_extra_mb"] = plain.extra_bytes / 1e6;
    result["ratio"] = plain.seconds / fused.seconds;
    result["loss_error"] = loss_error;
    result["gradient_error"] = worst;
    row("straightforward", plain, 4.0 * static_cast<double>(o.width));
    note = str("The fused head is ", readable(plain.seconds / fused.seconds),
               " times faster. Losses agree to ", readable(loss_error), ", gradients to ",
               readable(worst), " of their norm",
               agree ? "." : ": NOT within 1e-5 and 1e-4. This is a bug.");
  } else {
    result["plain_seconds"] = nullptr;
    result["plain_extra_mb"] = nullptr;
    result["ratio"] = nullptr;
    note = !o.plain ? "The straightforward graph was not timed (--no-plain)."
                    : str("The straightforward graph was skipped: it needs about ",
                          readable_bytes(needed), ", and ",
                          readable_bytes(static_cast<double>(available_memory())), " are free.");
  }
  result["agree"] = agree;
  common.say() << "width " << o.width << ", " << o.codes << " codes, batch " << o.batch
               << " x 2 views, " << name_of(kDictionaryNames, o.dictionary) << ", "
               << at::get_num_threads() << " threads, " << simd::instruction_set()
               << ", forward + backward\n\n"
               << table.str() << kClockNote << "\n"
               << note << "\n"
               << "Fused: " << readable(cycles) << " cycles per logit and core at "
               << readable(clock / 1e9) << " GHz; its arithmetic alone (" << readable(operations)
               << " operations per logit, two vectors of " << lanes << " per cycle) needs "
               << readable(limit) << ".\n";
  if (o.table) print_growth(o, common);
  common.result(result);
  return agree ? kSuccess : kFailure;
}

}  // namespace cpl::cli
