#include "cplearn/eval/neighbours.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/nn/product.h"

namespace cpl {
namespace {

constexpr std::int64_t kAskedRows = 128, kKnownRows = 2048;  // 1 MB of products per thread

struct Match {
  float value;
  std::int64_t index;
};

// Larger first; of equals, the earlier one. As a heap's order it keeps the worst on top.
bool better(const Match& a, const Match& b) {
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

// Keeps the k largest of product - penalty(index) for each asked row; `skip_self` leaves out the
// row of the same index. take(row, matches best first).
void search(const at::Tensor& asked, const at::Tensor& known, std::int64_t k, const float* penalty,
            bool skip_self,
            const std::function<void(std::int64_t, const std::vector<Match>&)>& take) {
  const std::int64_t n = known.size(0), m = asked.size(0);
  at::parallel_for(
      0, (m + kAskedRows - 1) / kAskedRows, 1, [&](std::int64_t from, std::int64_t to) {
        const at::NoGradGuard no_grad;  // the guard is per thread
        for (std::int64_t block = from; block < to; ++block) {
          const std::int64_t begin = block * kAskedRows, rows = std::min(kAskedRows, m - begin);
          std::vector<std::vector<Match>> best(rows);  // heaps of at most k
          for (std::int64_t start = 0; start < n; start += kKnownRows) {
            const std::int64_t columns = std::min(kKnownRows, n - start);
            const at::Tensor products =
                cpl::product(asked.narrow(0, begin, rows), known.narrow(0, start, columns).t());
            for (std::int64_t r = 0; r < rows; ++r) {
              const float* product = products.data_ptr<float>() + r * columns;
              auto& heap = best[r];
              for (std::int64_t j = 0; j < columns; ++j) {
                const float value = penalty ? product[j] - penalty[start + j] : product[j];
                if (static_cast<std::int64_t>(heap.size()) == k) {
                  if (value <= heap.front().value) continue;
                  if (skip_self && start + j == begin + r) continue;
                  std::pop_heap(heap.begin(), heap.end(), better);
                  heap.pop_back();
                } else if (skip_self && start + j == begin + r) {
                  continue;
                }
                heap.push_back({value, start + j});
                std::push_heap(heap.begin(), heap.end(), better);
              }
            }
          }
          for (std::int64_t r = 0; r < rows; ++r) {
            std::sort_heap(best[r].begin(), best[r].end(), better);
            take(begin + r, best[r]);
          }
        }
      });
}

Neighbours room_for(std::int64_t rows, std::int64_t k) {
  return {at::empty({rows, k}, at::kLong), at::empty({rows, k}, at::kFloat)};
}

}  // namespace

Neighbours most_similar(const at::Tensor& asked, const at::Tensor& known, std::int64_t k) {
  CPL_CHECK(asked.dim() == 2 && known.dim() == 2 && asked.size(1) == known.size(1) && k >= 1 &&
                k <= known.size(0),
            "neighbours need rows of one width and no more neighbours than rows, got ",
            asked.sizes(), ", ", known.sizes(), " and k = ", k);
  const at::NoGradGuard no_grad;
  const at::Tensor from = asked.to(at::kCPU, at::kFloat).contiguous();
  const at::Tensor to = known.to(at::kCPU, at::kFloat).contiguous();
  Neighbours found = room_for(from.size(0), k);
  auto* index = found.index.data_ptr<std::int64_t>();
  auto* value = found.value.data_ptr<float>();
  search(from, to, k, nullptr, false, [&](std::int64_t row, const std::vector<Match>& matches) {
    for (std::int64_t i = 0; i < k; ++i) {
      index[row * k + i] = matches[i].index;
      value[row * k + i] = matches[i].value;
    }
  });
  return found;
}

Neighbours nearest_others(const at::Tensor& x, std::int64_t k) {
  CPL_CHECK(x.dim() == 2 && k >= 1 && k < x.size(0),
            "neighbours need more rows than neighbours, got ", x.sizes(), " and k = ", k);
  const at::NoGradGuard no_grad;
  // Centred: |a - b|^2 = |a|^2 - 2 a b + |b|^2 loses digits to a common offset.
  const at::Tensor given = x.to(at::kCPU, at::kFloat);
  const at::Tensor rows = (given - given.mean(0)).contiguous();
  const at::Tensor half_squares = rows.square().sum(1).mul(0.5).contiguous();
  const std::int64_t d = rows.size(1);
  const float* data = rows.data_ptr<float>();
  // Which of nearly equal ones are nearest, and how near, is then decided without that difference.
  const auto distance = [&](std::int64_t a, std::int64_t b) {
    float sum = 0;
    for (std::int64_t c = 0; c < d; ++c) {
      const float difference = data[a * d + c] - data[b * d + c];
      sum += difference * difference;
    }
    return sum;
  };
  Neighbours found = room_for(rows.size(0), k);
  auto* index = found.index.data_ptr<std::int64_t>();
  auto* value = found.value.data_ptr<float>();
  search(rows, rows, k, half_squares.data_ptr<float>(), true,
         [&](std::int64_t row, const std::vector<Match>& matches) {
           std::vector<Match> exact;
           for (const Match& match : matches)
             exact.push_back({-distance(row, match.index), match.index});
           std::sort(exact.begin(), exact.end(), better);
           for (std::int64_t i = 0; i < k; ++i) {
             index[row * k + i] = exact[i].index;
             value[row * k + i] = -exact[i].value;
           }
         });
  return found;
}

}  // namespace cpl
