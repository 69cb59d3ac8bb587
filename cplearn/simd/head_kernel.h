#pragma once
// The fused head on one core. Goals: exact up to fp32 rounding; memory O(rows * width + codes),
// never O(rows * codes); every instruction set from the same source. Non-goals: threads (the caller
// splits the work) and tensors (plain pointers only).
//
// Layout. A vector lane is a row of the batch. `lanes()` rows form a group, stored as
// packed[group][dimension][lane], so that transforms, exponentials and row sums are purely
// vertical: no shuffles, no remainder loops, any width. Logits are in base 2 (log2(e) is folded
// into the scale when packing). Codes come in tiles of `CodeView::tile`.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace cpl::simd {

enum class CodeKind { kHadamard, kRademacher };

// A borrowed dictionary. A set bit means -1.
struct CodeView {
  CodeKind kind = CodeKind::kHadamard;
  std::int64_t width = 0;
  std::int64_t codes = 0;
  std::int64_t tile = 1;  // hadamard: the order of the matrix, base * 2^k >= width
  int base = 1;           // hadamard: order of the Paley factor: 1 (none), 12 or 20
  // hadamard: row_bytes() per tile, the signs of the diagonal; rademacher: row_bytes() per code.
  const std::uint8_t* bits = nullptr;

  std::int64_t row_bytes() const { return (width + 7) / 8; }
  std::int64_t tiles() const { return (codes + tile - 1) / tile; }
  // Dimensions of a packed row: the width, padded with zeros to what the transform needs.
  std::int64_t packed_width() const {
    return kind == CodeKind::kHadamard ? tile : (width + 3) / 4 * 4;
  }
};

std::int64_t lanes();

// Uninitialised memory aligned for every instruction set. Packed rows must be in such memory.
struct AlignedFree {
  void operator()(float* p) const { std::free(p); }
};
using AlignedFloats = std::unique_ptr<float[], AlignedFree>;
AlignedFloats aligned_floats(std::size_t count);

// packed[group][k][lane] = scale * h[group * lanes + lane][k], zero beyond the rows and the width.
void pack_rows(const float* h, std::int64_t rows, std::int64_t width, std::int64_t packed_width,
               float scale, float* packed);

// For one group: max[lane] and sum[lane] with sum_j 2^s_j = sum * 2^max over the tiles' codes, and,
// unless null, expected[k][lane] = sum_j 2^(s_j - max) w_jk, which divided by `sum` is the expected
// code. `bounded` promises sum_k |x_k| <= 40 for every row x, hence |s| <= 40, and saves the search
// for the maximum.
void row_sums(const CodeView& codes, const float* group, std::int64_t tile_begin,
              std::int64_t tile_end, bool bounded, float* max, double* sum, float* expected);

// For one group: the code with the largest logit (the first of equals), and that logit.
void nearest_codes(const CodeView& codes, const float* group, std::int64_t tile_begin,
                   std::int64_t tile_end, std::int32_t* code, float* logit);

// All logits of one group for one tile: logits[code in tile][lane].
void tile_logits(const CodeView& codes, const float* group, std::int64_t tile, float* logits);

enum class PriorForm { kForward, kReverse, kOthers };

// Form "others": where an image has nearly all of a code's mass, the others count as if they had
// this share of it.
constexpr float kLeastOthers = 1e-3f;

// Loss and gradient over a range of tiles, for all rows of both views. Index [v] is the view.
struct LossJob {
  CodeView codes;
  std::int64_t rows = 0;         // n, rows of one view here
  std::int64_t total_rows = 0;   // rows of one view over all workers: divides the means
  const float* packed[2] = {};   // [groups][packed_width][lanes]
  const float* log_sum[2] = {};  // [groups][lanes] log2 of the sum of exponentials; huge in padding
  float cross_weight[2] = {};    // of -mean p_v log p_other in the loss, beta included
  float prior_weight[2] = {};    // of the prior term of view v
  PriorForm prior_form = PriorForm::kReverse;
  const float* prior = nullptr;  // [codes] q, or null for uniform
  bool bounded = false;          // |s| <= 40: no 2^(s - log_sum) leaves fp32's range
  bool gradient = true;
  bool mean_given = false;   // `mean` is input (already reduced over workers), not output
  bool crowd_given = false;  // the same for `crowd`

  float* mean[2] = {};      // [codes] mean probability of each code
  float* crowd[2] = {};     // [codes] form "others": sum_i r^2 / (1 - r), r_ij = p_ij / sum_i p_ij
  float* weighted[2] = {};  // [groups][packed_width][lanes] overwritten: sum_j g_ij w_j, where
                            // g_ij = p_ij u_ij, u_ij = d(loss)/d(p_ij) up to a constant of row i
  double* along[2] = {};    // [groups][lanes] accumulates sum_j g_ij
  double prior_value[2] = {};  // accumulates the prior term of each view
  double prior_own[2] = {};    // form "others": what these rows add to it
};

void loss_tiles(LossJob& job, std::int64_t tile_begin, std::int64_t tile_end);

// Vector operations (additions, multiplications) that row_sums and loss_tiles spend on a logit:
// what a measured time can be held against.
double operations_per_logit(const CodeView& codes, bool bounded);

}  // namespace cpl::simd
