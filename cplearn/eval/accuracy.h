#pragma once
// Accuracy of scores for each class.

#include <ATen/core/Tensor.h>

#include "cplearn/eval/contingency.h"

namespace cpl {

struct Accuracy {
  double top1 = 0, top5 = 0;  // shares between 0 and 1
};

// `scores`: n x classes, largest is best, ties go to the lower class. `labels`: n, in [0, classes).
Accuracy accuracy(const at::Tensor& scores, const Labels& labels);

// The labels as numbers in [0, classes), checked; int64 on the CPU.
at::Tensor label_tensor(const Labels& labels, std::int64_t rows, std::int64_t classes);

}  // namespace cpl
