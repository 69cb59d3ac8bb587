#include "cplearn/nn/embedding.h"

#include <torch/torch.h>

namespace cpl {

at::Tensor blind_direction(const Dictionary& dictionary) {
  if (dictionary.kind() != DictionaryKind::kHadamard ||
      dictionary.codes() % dictionary.block() != 0 || dictionary.width() != dictionary.block())
    return {};
  const at::Tensor mean = torch::tensor(dictionary.mean());
  return mean.norm().item<double>() > 0.999 ? mean : at::Tensor();
}

at::Tensor activate(const at::Tensor& x, Activation activation, const at::Tensor& blind) {
  if (activation == Activation::kTanh) return x.tanh();
  at::Tensor seen = x;
  if (blind.defined()) {
    const at::Tensor direction = blind.to(x.options());
    seen = x - at::outer(at::mv(x, direction), direction);
  }
  return torch::nn::functional::normalize(seen,
                                          torch::nn::functional::NormalizeFuncOptions().dim(1));
}

}  // namespace cpl
