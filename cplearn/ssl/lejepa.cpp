#include "cplearn/ssl/lejepa.h"

#include <torch/torch.h>

#include <cmath>

#include "cplearn/nn/linear.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/projector_method.h"
#include "cplearn/ssl/slices.h"

namespace cpl {
namespace {

// The mean over views and directions of the statistic. u: V x N x m.
//
// t_k is k times the first point, so that exp(i t_k u) is a power of e = exp(i t_1 u): a complex
// product per point in place of a cosine and a sine. The gradient is a polynomial in e,
//
//   d/du = -Im sum_k 2 w_k t_k conj(mean_n e^k - phi_k) e^k,
//
// evaluated by Horner's rule. Only e is kept from forward to backward; a graph would keep every
// power, K times as much.
class EppsPulley : public torch::autograd::Function<EppsPulley> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& u,
                            std::int64_t points, double t_max) {
    const double first = t_max / static_cast<double>(points - 1);
    const at::Tensor e = at::polar(at::ones_like(u), first * u);
    at::Tensor power = e.clone(), sum = at::zeros({}, u.options());
    std::vector<at::Tensor> coefficients;        // of e^k in the gradient
    for (std::int64_t k = 1; k < points; ++k) {  // at 0 both functions are 1
      const double t = static_cast<double>(k) * first, phi = std::exp(-0.5 * t * t);
      const double weight = (k + 1 < points ? 2 : 1) * first * phi;
      if (k > 1) power.mul_(e);
      const at::Tensor error = power.mean(1, /*keepdim=*/true) - phi;  // V x 1 x m
      sum += weight * at::view_as_real(error).pow(2).sum();
      coefficients.push_back(2 * weight * t * error.conj());
    }
    context->save_for_backward({e, at::stack(coefficients)});
    return sum * (static_cast<double>(u.size(1)) / lines(u));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &e = saved[0], &coefficients = saved[1];
    at::Tensor sum = coefficients[-1] * e;
    for (std::int64_t k = coefficients.size(0) - 2; k >= 0; --k) sum.add_(coefficients[k]).mul_(e);
    return {at::imag(sum) * (-gradients[0] / lines(e)), {}, {}};
  }

 private:
  // How many statistics the mean is over.
  static double lines(const at::Tensor& u) { return static_cast<double>(u.size(0) * u.size(2)); }
};

}  // namespace

NamedLoss lejepa_loss(const std::vector<at::Tensor>& views, std::int64_t globals,
                      const at::Tensor& directions, const LejepaOptions& options,
                      WorkerGroup& workers) {
  const at::Tensor z = gather_views(views, workers);  // V x N x d
  const at::Tensor invariance = distance_to_centre(z, globals);
  const at::Tensor u = linear(z, directions.to(z.options()), at::Tensor());
  const at::Tensor sigreg = EppsPulley::apply(u, options.points, options.t_max);
  return {(1 - options.lambda) * invariance + options.lambda * sigreg,
          {{"invariance", invariance.detach()}, {"sigreg", sigreg.detach()}}};
}

std::shared_ptr<Method> make_method(const LejepaOptions& own, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return make_projector_method(
      make_backbone, options, /*last_bias=*/true,
      [own, seed = options.head.seed](const EmbeddedViews& embedded) {
        const at::Tensor directions =
            random_directions(seed, embedded.position.step, own.slices, embedded.h[0].size(1));
        return lejepa_loss(embedded.h, embedded.views.globals, directions, own, embedded.workers);
      });
}

}  // namespace cpl
