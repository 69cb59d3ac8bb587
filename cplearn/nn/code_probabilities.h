#pragma once
// The probabilities of all codes, for looking at them: training never holds an n x c tensor.

#include <ATen/core/Tensor.h>

#include "cplearn/hdc/dictionary.h"

namespace cpl {

// log softmax(scale * h W): n x c, float, on the CPU. `h`: n x d.
at::Tensor code_log_probabilities(const at::Tensor& h, const Dictionary& dictionary, double scale);

}  // namespace cpl
