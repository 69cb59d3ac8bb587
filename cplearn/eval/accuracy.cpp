#include "cplearn/eval/accuracy.h"

#include <torch/types.h>

#include <algorithm>

#include "cplearn/base/error.h"

namespace cpl {

at::Tensor label_tensor(const Labels& labels, std::int64_t rows, std::int64_t classes) {
  CPL_CHECK(static_cast<std::int64_t>(labels.size()) == rows && rows > 0,
            "needs one label per row, at least one; got ", labels.size(), " labels for ", rows,
            " rows");
  const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
  CPL_CHECK(*low >= 0 && *high < classes, "labels must be between 0 and ", classes - 1, ", got ",
            *low, " to ", *high, "; unlabelled images have to be left out");
  return torch::tensor(labels);
}

Accuracy accuracy(const at::Tensor& scores, const Labels& labels) {
  CPL_CHECK(scores.dim() == 2, "scores must be n x classes, got ", scores.dim(), " dimensions");
  const std::int64_t rows = scores.size(0), classes = scores.size(1);
  label_tensor(labels, rows, classes);
  const at::Tensor s = scores.to(at::kCPU, at::kDouble).contiguous();
  std::int64_t first = 0, fifth = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* row = s.data_ptr<double>() + i * classes;
    const std::int64_t label = labels[i];
    std::int64_t better = 0;
    for (std::int64_t j = 0; j < classes; ++j)
      better += row[j] > row[label] || (row[j] == row[label] && j < label);
    first += better < 1;
    fifth += better < 5;
  }
  const auto n = static_cast<double>(rows);
  return {static_cast<double>(first) / n, static_cast<double>(fifth) / n};
}

}  // namespace cpl
