#pragma once
// One pass of multinomial logistic regression, on one core: logits, softmax, loss and gradient of a
// block of rows while it is in the cache, so that the features are read once. Two general matrix
// products read them twice, and are far from their best with few classes.

#include <cstdint>

namespace cpl::simd {

// Features are padded with zeros to a multiple of this.
constexpr std::int64_t kSoftmaxPadding = 16;

struct SoftmaxJob {
  const float* rows = nullptr;           // [n][width], width a multiple of kSoftmaxPadding
  const std::int64_t* labels = nullptr;  // [n], in [0, classes)
  std::int64_t width = 0, classes = 0;
  const float* weight = nullptr;  // [classes][width]
  const float* bias = nullptr;    // [classes]
};

// The sum of cross-entropies of rows [begin, end), of which the gradient is added to
// weight_gradient [classes][width] and bias_gradient [classes].
double softmax_pass(const SoftmaxJob& job, std::int64_t begin, std::int64_t end,
                    double* weight_gradient, double* bias_gradient);

}  // namespace cpl::simd
