#include "cplearn/ssl/barlow.h"

#include <torch/torch.h>

#include "cplearn/dist/gather.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/projector_method.h"

namespace cpl {
namespace {

// Mean 0 and variance 1 in every column, as a batch normalisation without weights.
at::Tensor standardise(const at::Tensor& z) {
  return (z - z.mean(0)) / (z.var(0, /*unbiased=*/false) + 1e-5).sqrt();
}

}  // namespace

NamedLoss barlow_loss(const at::Tensor& z0, const at::Tensor& z1, const BarlowOptions& options,
                      WorkerGroup& workers) {
  const at::Tensor a = standardise(gather_rows(z0, workers));
  const at::Tensor b = standardise(gather_rows(z1, workers));
  const at::Tensor c = torch::matmul(a.t(), b) / static_cast<double>(a.size(0));  // d x d
  const at::Tensor diagonal = c.diagonal();
  const at::Tensor on = (diagonal - 1).pow(2).sum();
  const at::Tensor off = c.pow(2).sum() - diagonal.pow(2).sum();
  return {options.scale * (on + options.lambda * off),
          {{"on_diagonal", on.detach()}, {"off_diagonal", off.detach()}}};
}

std::shared_ptr<Method> make_method(const BarlowOptions& own, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return make_projector_method(
      make_backbone, options, /*last_bias=*/false,
      over_pairs([own](const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers) {
        return barlow_loss(h0, h1, own, workers);
      }));
}

}  // namespace cpl
