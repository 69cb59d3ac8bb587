#include "cplearn/eval/knn.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/accuracy.h"

namespace cpl {
namespace {

constexpr std::int64_t kTestRows = 128, kTrainRows = 2048;  // 1 MB of similarities per thread

struct Neighbour {
  float similarity;
  std::int64_t index;
};

// Nearer first; of equals, the earlier one. As a heap's order it keeps the farthest on top.
bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.index < b.index;
}

// Rows of unit length; rows of zeros stay.
at::Tensor unit_rows(const at::Tensor& x) {
  const at::Tensor rows = x.to(at::kCPU, at::kFloat);
  return (rows / rows.norm(2, 1, true).clamp_min(1e-12)).contiguous();
}

}  // namespace

at::Tensor knn_votes(const at::Tensor& train, const Labels& labels, const at::Tensor& test,
                     std::int64_t classes, const KnnOptions& options) {
  CPL_CHECK(train.dim() == 2 && test.dim() == 2 && train.size(1) == test.size(1),
            "kNN needs train and test as rows of one width, got ", train.sizes(), " and ",
            test.sizes());
  CPL_CHECK(options.neighbours >= 1 && options.temperature > 0,
            "kNN needs at least 1 neighbour and a temperature above 0, got ", options.neighbours,
            " and ", options.temperature);
  label_tensor(labels, train.size(0), classes);
  const at::NoGradGuard no_grad;
  const at::Tensor known = unit_rows(train), asked = unit_rows(test);
  const std::int64_t n = known.size(0), m = asked.size(0);
  const auto k = static_cast<std::size_t>(std::min(options.neighbours, n));
  at::Tensor votes = at::zeros({m, classes}, at::kDouble);
  double* vote = votes.data_ptr<double>();

  at::parallel_for(0, (m + kTestRows - 1) / kTestRows, 1, [&](std::int64_t from, std::int64_t to) {
    const at::NoGradGuard no_grad_here;  // the guard is per thread
    for (std::int64_t block = from; block < to; ++block) {
      const std::int64_t begin = block * kTestRows, rows = std::min(kTestRows, m - begin);
      std::vector<std::vector<Neighbour>> nearest(rows);  // heaps of at most k
      for (std::int64_t start = 0; start < n; start += kTrainRows) {
        const std::int64_t columns = std::min(kTrainRows, n - start);
        const at::Tensor similarities =
            at::mm(asked.narrow(0, begin, rows), known.narrow(0, start, columns).t());
        for (std::int64_t r = 0; r < rows; ++r) {
          const float* similarity = similarities.data_ptr<float>() + r * columns;
          auto& heap = nearest[r];
          for (std::int64_t j = 0; j < columns; ++j) {
            if (heap.size() == k) {
              if (similarity[j] <= heap.front().similarity) continue;
              std::pop_heap(heap.begin(), heap.end(), nearer);
              heap.pop_back();
            }
            heap.push_back({similarity[j], start + j});
            std::push_heap(heap.begin(), heap.end(), nearer);
          }
        }
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        std::sort_heap(nearest[r].begin(), nearest[r].end(), nearer);  // a fixed order of additions
        for (const Neighbour& one : nearest[r])
          vote[(begin + r) * classes + labels[one.index]] +=
              std::exp(one.similarity / options.temperature);
      }
    }
  });
  return votes;
}

}  // namespace cpl
