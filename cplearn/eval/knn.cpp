#include "cplearn/eval/knn.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/neighbours.h"

namespace cpl {
namespace {

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
  const std::int64_t m = asked.size(0), k = std::min(options.neighbours, known.size(0));
  const Neighbours nearest = most_similar(asked, known, k);
  const auto* index = nearest.index.data_ptr<std::int64_t>();
  const float* similarity = nearest.value.data_ptr<float>();
  at::Tensor votes = at::zeros({m, classes}, at::kDouble);
  double* vote = votes.data_ptr<double>();
  for (std::int64_t i = 0; i < m * k; ++i)
    vote[i / k * classes + labels[index[i]]] += std::exp(similarity[i] / options.temperature);
  return votes;
}

}  // namespace cpl
