#include "cplearn/eval/trustworthiness.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/eval/neighbours.h"

namespace cpl {

double trustworthiness(const at::Tensor& x, const at::Tensor& map, std::int64_t neighbours) {
  CPL_CHECK(
      x.dim() == 2 && map.dim() == 2 && x.size(0) == map.size(0) && neighbours >= 1 &&
          2 * neighbours < x.size(0),
      "trustworthiness needs a map of the same points and under half as many neighbours, got ",
      x.sizes(), ", ", map.sizes(), " and ", neighbours);
  constexpr std::int64_t kBlock = 64;
  const at::NoGradGuard no_grad;
  const at::Tensor points = x.to(at::kCPU, at::kDouble);
  const at::Tensor rows = (points - points.mean(0)).contiguous();
  const at::Tensor squares = rows.square().sum(1);
  const std::int64_t n = rows.size(0), k = neighbours;
  const Neighbours near = nearest_others(map, k);
  const auto* index = near.index.data_ptr<std::int64_t>();
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> penalties(blocks);
  at::parallel_for(0, blocks, 1, [&](std::int64_t from, std::int64_t to) {
    const at::NoGradGuard no_grad_here;
    for (std::int64_t block = from; block < to; ++block) {
      const std::int64_t begin = block * kBlock, count = std::min(kBlock, n - begin);
      const at::Tensor distances =  // without the row's own square, which changes no order
          (squares.unsqueeze(0) - 2 * at::mm(rows.narrow(0, begin, count), rows.t())).contiguous();
      for (std::int64_t r = 0; r < count; ++r) {
        const double* distance = distances.data_ptr<double>() + r * n;
        const std::int64_t self = begin + r;
        for (std::int64_t i = 0; i < k; ++i) {
          const std::int64_t other = index[self * k + i];
          std::int64_t rank = 1;  // 1 is the nearest
          for (std::int64_t j = 0; j < n; ++j)
            rank += j != self && (distance[j] < distance[other] ||
                                  (distance[j] == distance[other] && j < other));
          penalties[block] += static_cast<double>(std::max<std::int64_t>(rank - k, 0));
        }
      }
    }
  });
  const double sum = std::accumulate(penalties.begin(), penalties.end(), 0.0);
  const auto size = static_cast<double>(n), near_count = static_cast<double>(k);
  return 1 - 2 * sum / (size * near_count * (2 * size - 3 * near_count - 1));
}

}  // namespace cpl
