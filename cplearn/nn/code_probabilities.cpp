#include "cplearn/nn/code_probabilities.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>

#include "cplearn/base/error.h"
#include "cplearn/simd/head_kernel.h"

namespace cpl {

at::Tensor code_log_probabilities(const at::Tensor& h, const Dictionary& dictionary, double scale) {
  CPL_CHECK(h.dim() == 2 && h.size(1) == dictionary.width(), "head: embeddings must be rows x ",
            dictionary.width(), " (the dictionary's width), got ", h.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor rows = h.to(at::kCPU, at::kFloat).contiguous();
  const simd::CodeView codes = dictionary.view();
  const std::int64_t n = rows.size(0), lanes = simd::lanes(), groups = (n + lanes - 1) / lanes;
  at::Tensor logits = at::empty({n, codes.codes}, at::kFloat);
  float* out = logits.data_ptr<float>();
  at::parallel_for(0, groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto packed = simd::aligned_floats(codes.packed_width() * lanes);
    const auto tile_logits = simd::aligned_floats(codes.tile * lanes);
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t first = group * lanes, count = std::min(lanes, n - first);
      simd::pack_rows(rows.data_ptr<float>() + first * codes.width, count, codes.width,
                      codes.packed_width(), static_cast<float>(scale), packed.get());
      for (std::int64_t tile = 0; tile < codes.tiles(); ++tile) {
        simd::tile_logits(codes, packed.get(), tile, tile_logits.get());
        const std::int64_t from = tile * codes.tile;
        const std::int64_t size = std::min(codes.tile, codes.codes - from);
        for (std::int64_t lane = 0; lane < count; ++lane) {
          float* row = out + (first + lane) * codes.codes + from;
          for (std::int64_t j = 0; j < size; ++j) row[j] = tile_logits[j * lanes + lane];
        }
      }
    }
  });
  return logits.log_softmax(1);
}

}  // namespace cpl
