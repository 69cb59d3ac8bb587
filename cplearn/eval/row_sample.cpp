#include "cplearn/eval/row_sample.h"

#include "cplearn/base/random.h"

namespace cpl {

std::vector<std::int64_t> sample_rows(std::int64_t rows, std::int64_t stride, std::uint64_t seed) {
  constexpr std::uint32_t kOwnNumbers = 2;  // apart from others of this stream
  Random random(seed, Stream::kEval, 0, kOwnNumbers);
  std::vector<std::int64_t> sample;
  for (std::int64_t first = 0; first + stride <= rows; first += stride)
    sample.push_back(first + random.below(static_cast<std::uint32_t>(stride)));
  return sample;
}

}  // namespace cpl
