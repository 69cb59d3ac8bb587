#include "cplearn/nn/backbone/batch_norm.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "cplearn/nn/second_derivative.h"
#include "cplearn/simd/batch_norm_kernel.h"

namespace cpl {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t kElementsPerPart = 1 << 15;  // at least

template <class T>
struct PixelRows {
  explicit PixelRows(const Tensor& x)
      : channels(x.size(1)),
        rows(x.numel() / channels),
        parts(std::clamp<std::int64_t>(x.numel() / kElementsPerPart, 1, at::get_num_threads())) {}

  // body(part, first row, rows). Parts depend on nothing but the number of threads.
  template <class Body>
  void share(const Body& body) const {
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t first = rows * part / parts, last = rows * (part + 1) / parts;
        body(part, first, last - first);
      }
    });
  }

  // The job for rows from `first` on: every map that it has begins there.
  simd::NormJob<T> part_of(simd::NormJob<T> job, std::int64_t first, std::int64_t count) const {
    job.rows = count;
    job.channels = channels;
    for (const T** map : {&job.x, &job.residual, &job.dy, &job.result}) {
      if (*map) *map += first * channels;
    }
    for (T** map : {&job.y, &job.dx, &job.dresidual}) {
      if (*map) *map += first * channels;
    }
    return job;
  }

  // 2 x channels: the sums over all rows.
  Tensor sums(void (*pass)(const simd::NormJob<T>&, double*), const simd::NormJob<T>& job) const {
    const Tensor all = torch::zeros({parts, 2, channels}, torch::kDouble);
    share([&](std::int64_t part, std::int64_t first, std::int64_t count) {
      pass(part_of(job, first, count), all.data_ptr<double>() + part * 2 * channels);
    });
    return all.sum(0);
  }

  void run(void (*pass)(const simd::NormJob<T>&), const simd::NormJob<T>& job) const {
    share([&](std::int64_t, std::int64_t first, std::int64_t count) {
      pass(part_of(job, first, count));
    });
  }

  std::int64_t channels, rows, parts;
};

template <class T>
const T* pointer(const Tensor& x) {
  return x.defined() && x.numel() > 0 ? x.data_ptr<T>() : nullptr;
}

// Mean and variance of each channel, 2 x channels in double. Sums are taken about the first pixel:
// about zero, they would lose the digits of the mean's square.
Tensor moments(const Tensor& x) {
  Tensor result;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm_moments", [&] {
    const PixelRows<scalar_t> rows(x);
    simd::NormJob<scalar_t> job{0, 0, x.data_ptr<scalar_t>()};
    job.centre = job.x;
    const Tensor mean = rows.sums(simd::norm_sums<scalar_t>, job) / rows.rows;
    const Tensor centre =
        torch::from_blob(x.data_ptr(), {rows.channels}, x.options().layout(at::kStrided));
    result = torch::stack({mean[0] + centre, mean[1] - mean[0].square()});
  });
  return result;
}

template <class T>
void run_gradient(const PixelRows<T>& rows, simd::NormJob<T> job, const NormGradient& gradient,
                  const Tensor& dx) {
  job.gradient_factor = gradient.gradient_factor.data_ptr<T>();
  job.input_factor = gradient.input_factor.data_ptr<T>();
  job.constant = gradient.constant.data_ptr<T>();
  job.dx = dx.data_ptr<T>();
  rows.run(simd::norm_gradient<T>, job);
}

class Normalise : public torch::autograd::Function<Normalise> {
 public:
  // `moments`: 2 x channels in double, mean and variance; those of x itself if `training`, so that
  // the gradient also flows through them. A residual without elements stands for none.
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& residual,
                        const Tensor& weight, const Tensor& bias, const Tensor& moments,
                        double epsilon, bool training, bool relu) {
    const at::NoGradGuard no_grad;
    const NormFactors norm(weight, bias, moments, epsilon);
    const Tensor y = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm", [&] {
      simd::NormJob<scalar_t> job{0, 0, x.data_ptr<scalar_t>(), relu};
      job.scale = norm.scale.data_ptr<scalar_t>();
      job.offset = norm.offset.data_ptr<scalar_t>();
      job.residual = pointer<scalar_t>(residual);
      job.y = y.data_ptr<scalar_t>();
      PixelRows<scalar_t>(x).run(simd::norm_apply<scalar_t>, job);
    });
    context->save_for_backward({x, relu ? y : Tensor(), weight, norm.mean, norm.inverse});
    context->saved_data["training"] = training;
    context->saved_data["relu"] = relu;
    context->saved_data["residual"] = residual.numel() > 0;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    refuse_second_derivative("normalise");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &y = saved[1], &weight = saved[2], &mean = saved[3],
                 &inverse = saved[4];
    const Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const bool has_residual = context->saved_data["residual"].toBool();
    const Tensor dx = torch::empty_like(x), centre = mean.to(x.scalar_type());
    const Tensor dresidual = has_residual ? torch::empty_like(x) : Tensor();
    Tensor dweight, dbias;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "batch_norm_backward", [&] {
      const PixelRows<scalar_t> rows(x);
      simd::NormJob<scalar_t> job{0, 0, x.data_ptr<scalar_t>(),
                                  context->saved_data["relu"].toBool()};
      job.dy = dy.data_ptr<scalar_t>();
      job.result = pointer<scalar_t>(y);
      job.centre = centre.data_ptr<scalar_t>();
      const Tensor sums = rows.sums(simd::norm_gradient_sums<scalar_t>, job);
      const bool training = context->saved_data["training"].toBool();
      const NormGradient gradient(sums, weight, mean, inverse, training ? rows.rows : 0);
      if (has_residual) job.dresidual = dresidual.data_ptr<scalar_t>();
      run_gradient(rows, job, gradient, dx);
      dweight = gradient.weight;
      dbias = gradient.bias;
    });
    return {dx, dresidual, dweight, dbias, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

bool normalise_supports(const torch::nn::BatchNorm2d& norm, const Tensor& x) {
  const auto& options = norm->options;
  const auto type = x.scalar_type();
  return x.device().is_cpu() && (type == torch::kFloat || type == torch::kDouble) &&
         norm->weight.scalar_type() == type && x.size(1) % simd::kChannelMultiple == 0 &&
         x.numel() > x.size(1) && options.affine() && options.track_running_stats() &&
         options.momentum().has_value();
}

Tensor norm_moments(torch::nn::BatchNorm2d& norm, const Tensor& x) {
  const torch::NoGradGuard no_grad;
  Tensor mean = norm->running_mean, variance = norm->running_var;
  if (!norm->is_training()) return torch::stack({mean, variance}).to(torch::kDouble);
  const Tensor result = moments(x);
  const double momentum = *norm->options.momentum();
  const double n = static_cast<double>(x.numel() / x.size(1));
  mean.lerp_(result[0].to(mean.scalar_type()), momentum);
  variance.lerp_((result[1] * (n / (n - 1))).to(variance.scalar_type()), momentum);
  norm->num_batches_tracked += 1;
  return result;
}

NormFactors::NormFactors(const Tensor& weight, const Tensor& bias, const Tensor& moments,
                         double epsilon)
    : mean(moments[0]), inverse((moments[1] + epsilon).rsqrt()) {
  const Tensor exact = weight.to(torch::kDouble) * inverse;
  scale = exact.to(weight.scalar_type());
  offset = (bias.to(torch::kDouble) - mean * exact).to(weight.scalar_type());
}

NormGradient::NormGradient(const Tensor& sums, const Tensor& parameter, const Tensor& mean,
                           const Tensor& inverse, std::int64_t count) {
  const auto type = parameter.scalar_type();
  // dx = scale (g - mean(g) - x' mean(g x')), x' normalised: linear in g and x.
  const Tensor scale = parameter.to(torch::kDouble) * inverse, exact = sums[1] * inverse;
  const double share = count > 0 ? 1 / static_cast<double>(count) : 0;
  const Tensor slope = -share * scale * inverse * exact;
  weight = exact.to(type);
  bias = sums[0].to(type);
  gradient_factor = scale.to(type);
  input_factor = slope.to(type);
  constant = (-share * scale * sums[0] - slope * mean).to(type);
}

void norm_input_gradient(const Tensor& g, const Tensor& x, const NormGradient& gradient) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "norm_input_gradient", [&] {
    simd::NormJob<scalar_t> job{0, 0, x.data_ptr<scalar_t>()};
    job.dy = g.data_ptr<scalar_t>();
    run_gradient(PixelRows<scalar_t>(x), job, gradient, g);
  });
}

Tensor normalise(torch::nn::BatchNorm2d& norm, const Tensor& x_any, const Tensor& residual,
                 bool relu, bool plain) {
  if (plain || !normalise_supports(norm, x_any) ||
      (residual.defined() && residual.scalar_type() != x_any.scalar_type())) {
    Tensor y = norm(x_any);
    if (residual.defined()) y = y.add_(residual);
    return relu ? y.relu_() : y;
  }
  const Tensor x = x_any.contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor added = residual.defined() ? residual.contiguous(at::MemoryFormat::ChannelsLast)
                                          : torch::empty({0}, x.options());
  return Normalise::apply(x, added, norm->weight, norm->bias, norm_moments(norm, x),
                          norm->options.eps(), norm->is_training(), relu);
}

}  // namespace cpl
