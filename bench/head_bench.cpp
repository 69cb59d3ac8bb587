// The head's kernel on one core, by dictionary, width and instruction set. `logits/s` counts both
// views; `Verify` compares the row sums with a naive loop before anything is timed.

#include <benchmark/benchmark.h>

#include <cmath>
#include <stdexcept>

#include "cplearn/base/random.h"
#include "cplearn/hdc/dictionary.h"
#include "cplearn/simd/isa.h"

namespace {

using cpl::Dictionary;
using cpl::DictionaryKind;
namespace simd = cpl::simd;

constexpr std::int64_t kCodes = 16384;

struct Rows {
  simd::AlignedFloats packed;
  std::vector<float> h;

  Rows(const simd::CodeView& view, float scale)
      : h(static_cast<std::size_t>(simd::lanes() * view.width)) {
    cpl::Random random(1, cpl::Stream::kTheory);
    for (float& x : h) x = std::tanh(random.normal());
    packed = simd::aligned_floats(static_cast<std::size_t>(view.packed_width() * simd::lanes()));
    simd::pack_rows(h.data(), simd::lanes(), view.width, view.packed_width(), scale, packed.get());
  }
};

void verify(const Dictionary& dictionary, const Rows& rows, float scale,
            const std::vector<double>& sum) {
  double expected = 0;
  for (std::int64_t j = 0; j < dictionary.codes(); ++j) {
    const cpl::Code code = dictionary.code(j);
    double s = 0;
    for (std::int64_t k = 0; k < dictionary.width(); ++k)
      s += code.sign(k) * rows.h[static_cast<std::size_t>(k)];
    expected += std::exp2(scale * s);
  }
  if (std::abs(sum[0] - expected) > 1e-5 * expected) throw std::runtime_error("row_sums is wrong");
}

void row_sums(benchmark::State& state, DictionaryKind kind, const std::string& isa) {
  simd::force_instruction_set(isa);
  const std::int64_t width = state.range(0);
  const Dictionary dictionary(kind, width, kCodes, 1);
  const simd::CodeView view = dictionary.view();
  const float scale = 26.0f / static_cast<float>(width);
  const Rows rows(view, scale);
  const auto lanes = static_cast<std::size_t>(simd::lanes());
  std::vector<float> max(lanes);
  std::vector<double> sum(lanes);
  const auto expected = simd::aligned_floats(static_cast<std::size_t>(view.packed_width()) * lanes);
  const auto run = [&] {
    simd::row_sums(view, rows.packed.get(), 0, view.tiles(), true, max.data(), sum.data(),
                   expected.get());
  };
  run();
  verify(dictionary, rows, scale, sum);
  for (auto _ : state) run();
  state.counters["logits/s"] =
      benchmark::Counter(static_cast<double>(kCodes) * static_cast<double>(lanes),
                         benchmark::Counter::kIsIterationInvariantRate);
  simd::force_instruction_set("");
}

const bool registered = [] {
  for (const std::string& isa : simd::instruction_sets()) {
    for (const auto& [name, kind] :
         {std::pair<const char*, DictionaryKind>{"hadamard", DictionaryKind::kHadamard},
          {"rademacher", DictionaryKind::kRademacher}}) {
      benchmark::RegisterBenchmark((std::string("row_sums/") + name + "/" + isa).c_str(), row_sums,
                                   kind, isa)
          ->Arg(128)
          ->Arg(384)
          ->Arg(512);
    }
  }
  return true;
}();

}  // namespace
