#include "cplearn/ssl/visreg.h"

#include <torch/torch.h>

#include "cplearn/nn/linear.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/projector_method.h"
#include "cplearn/ssl/slices.h"

namespace cpl {
namespace {

// How far the quantiles along directions are from those of a standard normal. z: V x N x d.
at::Tensor distance_to_normal(const at::Tensor& z, const at::Tensor& directions) {
  const std::int64_t views = z.size(0), n = z.size(1);
  // m x V x N: what is sorted lies together.
  const at::Tensor u = linear(directions.to(z.options()), z.reshape({views * n, -1}), at::Tensor())
                           .view({-1, views, n});
  const at::Tensor ranks = torch::arange(1, n + 1, z.options());
  const at::Tensor quantiles = torch::special::ndtri(ranks / static_cast<double>(n + 1));
  return (std::get<0>(u.sort(2)) - quantiles).pow(2).mean();
}

}  // namespace

NamedLoss visreg_loss(const std::vector<at::Tensor>& views, std::int64_t globals,
                      const at::Tensor& directions, const VisregOptions& options,
                      WorkerGroup& workers) {
  const at::Tensor z = gather_views(views, workers);  // V x N x d
  const at::Tensor invariance = distance_to_centre(z, globals);
  const at::Tensor mean = z.mean(1, /*keepdim=*/true);  // V x 1 x d
  // Where it is exactly 0, torch's derivative is 0, not NaN.
  const at::Tensor deviation = z.std(1, /*unbiased=*/false, /*keepdim=*/true);
  const at::Tensor centre = mean.pow(2).mean(), scale = (1 - deviation).pow(2).mean();
  const at::Tensor shape = distance_to_normal((z - mean) / (deviation.detach() + 1e-4), directions);
  return {(1 - options.lambda) * invariance + options.lambda * (centre + scale + shape),
          {{"invariance", invariance.detach()},
           {"centre", centre.detach()},
           {"scale", scale.detach()},
           {"shape", shape.detach()}}};
}

std::shared_ptr<Method> make_method(const VisregOptions& own, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return make_projector_method(
      make_backbone, options, /*last_bias=*/true,
      [own, seed = options.head.seed](const EmbeddedViews& embedded) {
        const at::Tensor directions =
            random_directions(seed, embedded.position.step, own.slices, embedded.h[0].size(1));
        return visreg_loss(embedded.h, embedded.views.globals, directions, own, embedded.workers);
      });
}

}  // namespace cpl
