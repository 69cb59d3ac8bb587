#include "cplearn/ssl/vicreg.h"

#include <torch/torch.h>

#include "cplearn/dist/gather.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/projector_method.h"

namespace cpl {
namespace {

// How far standard deviations fall short of 1, on average.
at::Tensor shortfall(const at::Tensor& centred) {
  const auto n = static_cast<double>(centred.size(0));
  return (1 - (centred.pow(2).sum(0) / (n - 1) + 1e-4).sqrt()).relu().mean();
}

// Sum of squared covariances between different features, per feature.
at::Tensor redundancy(const at::Tensor& centred) {
  const auto n = static_cast<double>(centred.size(0)), d = static_cast<double>(centred.size(1));
  const at::Tensor c = torch::matmul(centred.t(), centred) / (n - 1);
  return (c.pow(2).sum() - c.diagonal().pow(2).sum()) / d;
}

}  // namespace

NamedLoss vicreg_loss(const at::Tensor& z0, const at::Tensor& z1, const VicregOptions& options,
                      WorkerGroup& workers) {
  const at::Tensor a = gather_rows(z0, workers), b = gather_rows(z1, workers);
  const at::Tensor invariance = (a - b).pow(2).mean();
  const at::Tensor centred_a = a - a.mean(0), centred_b = b - b.mean(0);
  const at::Tensor variance = 0.5 * (shortfall(centred_a) + shortfall(centred_b));
  const at::Tensor covariance = redundancy(centred_a) + redundancy(centred_b);
  return {options.invariance * invariance + options.variance * variance +
              options.covariance * covariance,
          {{"invariance", invariance.detach()},
           {"variance", variance.detach()},
           {"covariance", covariance.detach()}}};
}

std::shared_ptr<Method> make_method(const VicregOptions& own, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return make_projector_method(
      make_backbone, options, /*last_bias=*/false,
      over_pairs([own](const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers) {
        return vicreg_loss(h0, h1, own, workers);
      }));
}

}  // namespace cpl
