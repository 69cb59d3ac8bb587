#include "cplearn/eval/pca.h"

#include <torch/torch.h>

#include <algorithm>

#include "cplearn/base/error.h"

namespace cpl {

at::Tensor principal_components(const at::Tensor& x, std::int64_t components) {
  CPL_CHECK(x.dim() == 2 && x.size(0) >= 1 && x.size(1) >= 1 && components >= 1,
            "principal components need points as n x d, got ", x.sizes());
  const at::NoGradGuard no_grad;
  at::Tensor rows = x.to(at::kCPU, at::kDouble);
  CPL_CHECK(rows.isfinite().all().item<bool>(),
            "principal components need finite points, but some are NaN or infinite");
  rows = rows - rows.mean(0);
  const bool wide = rows.size(1) > rows.size(0);
  const std::int64_t known = std::min({components, rows.size(0), rows.size(1)});
  at::Tensor directions;  // d x known
  if (wide) {             // from the eigenvectors U of XX': X'U, up to length
    const at::Tensor vectors = std::get<1>(at::linalg_eigh(at::matmul(rows, rows.t())));
    directions = at::matmul(rows.t(), vectors.narrow(1, rows.size(0) - known, known).flip(1));
    directions = directions / directions.norm(2, 0, true).clamp_min(1e-300);
  } else {
    const at::Tensor vectors = std::get<1>(at::linalg_eigh(at::matmul(rows.t(), rows)));
    directions = vectors.narrow(1, rows.size(1) - known, known).flip(1);
  }
  const at::Tensor largest = directions.gather(0, directions.abs().argmax(0, true));  // 1 x known
  directions = directions * at::where(largest < 0, -at::ones_like(largest), at::ones_like(largest));
  at::Tensor result = at::zeros({rows.size(0), components});
  result.narrow(1, 0, known).copy_(at::matmul(rows, directions));
  return result;
}

}  // namespace cpl
