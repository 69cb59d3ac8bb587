#include "cplearn/ssl/pairwise_method.h"

#include <torch/torch.h>

#include "cplearn/nn/mlp.h"
#include "cplearn/ssl/method_options.h"

namespace cpl {

PairwiseMethod::PairwiseMethod(const BackboneMaker& make_backbone, const MethodOptions& options)
    : Method(make_backbone) {
  const std::int64_t d = options.hidden_or(student().features());
  projector_ = register_module(
      "projector", make_mlp({student().features(), d, d, d}, MlpKind::kBatchNorm, false));
}

StepResult PairwiseMethod::step(const Views& views, const Position&) {
  const std::vector<at::Tensor> z = encode_views(views);
  std::vector<at::Tensor> h;
  for (const at::Tensor& view : z) h.push_back(embed(view));
  StepResult result =
      mean_over_pairs(views, [&](std::size_t i, std::size_t j) { return compare(h[i], h[j]); });
  result.representations = z[0].detach();
  result.embeddings = h[0].detach();
  return result;
}

}  // namespace cpl
