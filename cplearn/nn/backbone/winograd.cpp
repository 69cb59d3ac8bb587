#include "cplearn/nn/backbone/winograd.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t kTilesAtOnce = 256;         // rows of a matrix product: enough to be fast
constexpr std::int64_t kTilesPerPart = 64;         // at least: each part sums a kernel of its own
constexpr std::int64_t kKernelChannels = 1 << 14;  // of a kernel, per thread at least

// Applies a stage to the channels of a kernel, in parallel. `taps`: 3 x 3 x in x out.
template <class T>
void transform(void (*stage)(const WinogradJob<T>&), Winograd kind, const Tensor& taps,
               const Tensor& points) {
  const std::int64_t blocks = taps[0][0].numel() / kWinogradChannels;
  at::parallel_for(0, blocks, kKernelChannels / kWinogradChannels, [&](auto begin, auto end) {
    WinogradJob<T> job{
        kind, 1, 3, 3, blocks * kWinogradChannels, taps.data_ptr<T>(), points.data_ptr<T>()};
    job.begin = begin * kWinogradChannels;
    job.end = end * kWinogradChannels;
    stage(job);
  });
}

// out x in x 3 x 3 -> points x in x out
template <class T>
Tensor transform_kernel(Winograd kind, const Tensor& weight) {
  const Tensor taps = weight.permute({2, 3, 1, 0}).contiguous();
  const Tensor points =
      torch::empty({winograd_points(kind), weight.size(1), weight.size(0)}, taps.options());
  transform<T>(winograd_kernel<T>, kind, taps, points);
  return points;
}

// The gradient of a kernel from that of its points.
template <class T>
Tensor transform_kernel_adjoint(Winograd kind, const Tensor& points) {
  const Tensor taps = torch::empty({3, 3, points.size(1), points.size(2)}, points.options());
  transform<T>(winograd_kernel_adjoint<T>, kind, taps, points);
  return taps.permute({3, 2, 0, 1}).contiguous();
}

// What one call works on: maps before (n x height x width x in) and after the convolution, in
// groups of images whose tiles fill a matrix product.
struct Geometry {
  Geometry(Winograd k, const Tensor& x, std::int64_t channels_out)
      : kind(k),
        images(x.size(0)),
        height(x.size(2)),
        width(x.size(3)),
        in(x.size(1)),
        out(channels_out),
        scale(k == Winograd::kPooled ? 2 : 1),
        tiles(winograd_tiles(height, width)),
        group(std::max<std::int64_t>(1, kTilesAtOnce / tiles)),
        parts(std::clamp<std::int64_t>(images * tiles / kTilesPerPart, 1, at::get_num_threads())) {}

  // Memory for the points of one group, for each part.
  Tensor scratch(const Tensor& like, std::int64_t channels) const {
    return torch::empty({parts, winograd_points(kind) * group * tiles * channels}, like.options());
  }

  // That memory for `count` images: points x tiles x channels.
  Tensor points(const Tensor& scratch, std::int64_t part, std::int64_t count,
                std::int64_t channels) const {
    const std::int64_t size = winograd_points(kind) * count * tiles * channels;
    return scratch[part].narrow(0, 0, size).view({-1, count * tiles, channels});
  }

  template <class T>
  WinogradJob<T> before(const Tensor& map, std::int64_t first, std::int64_t count,
                        const Tensor& points, double slope) const {
    T* const begin = map.data_ptr<T>() + first * height * width * in;
    WinogradJob<T> job{kind, count, height, width, in, begin, points.data_ptr<T>()};
    job.slope = static_cast<T>(slope);
    return job;
  }

  template <class T>
  WinogradJob<T> after(const Tensor& map, std::int64_t first, std::int64_t count,
                       const Tensor& points) const {
    const std::int64_t h = height / scale, w = width / scale;
    T* const begin = map.data_ptr<T>() + first * h * w * out;
    return {kind, count, h, w, out, begin, points.data_ptr<T>()};
  }

  // body(part, first image, images) for every group, parts in parallel. Who gets what depends on
  // nothing but the number of threads, and so do the last bits of the result.
  template <class Body>
  void for_groups(const Body& body) const {
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      const at::AutoDispatchBelowADInplaceOrView guard;  // no graph is recorded in here
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t last = images * (part + 1) / parts;
        for (std::int64_t first = images * part / parts; first < last; first += group) {
          body(part, first, std::min(group, last - first));
        }
      }
    });
  }

  Winograd kind;
  std::int64_t images, height, width, in, out, scale, tiles, group, parts;
};

class WinogradConv : public torch::autograd::Function<WinogradConv> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, const Tensor& weight,
                        const Tensor& bias, std::int64_t kind_number, double slope) {
    RECORD_FUNCTION("cplearn::convolution", {});  // so that profilers see it as one
    const auto kind = static_cast<Winograd>(kind_number);
    const Tensor x = x_any.contiguous(at::MemoryFormat::ChannelsLast);
    const Geometry g(kind, x, weight.size(0));
    const Tensor y = torch::empty({g.images, g.out, g.height / g.scale, g.width / g.scale},
                                  x.options().memory_format(at::MemoryFormat::ChannelsLast));
    const Tensor before = g.scratch(x, g.in), after = g.scratch(x, g.out);
    Tensor kernel;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv", [&] {
      kernel = transform_kernel<scalar_t>(kind, weight);
      g.for_groups([&](std::int64_t part, std::int64_t first, std::int64_t count) {
        const Tensor v = g.points(before, part, count, g.in);
        const Tensor m = g.points(after, part, count, g.out);
        winograd_input(g.before<scalar_t>(x, first, count, v, slope));
        for (std::int64_t k = 0; k < v.size(0); ++k) {
          Tensor product = m[k];
          at::mm_out(product, v[k], kernel[k]);
        }
        auto job = g.after<scalar_t>(y, first, count, m);
        if (bias.numel() > 0) job.bias = bias.data_ptr<scalar_t>();
        winograd_output(job);
      });
    });
    context->save_for_backward({x, kernel});
    context->saved_data["kind"] = kind_number;
    context->saved_data["slope"] = slope;
    context->saved_data["bias"] = bias.numel() > 0;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& kernel = saved[1];  // points x in x out
    const auto kind = static_cast<Winograd>(context->saved_data["kind"].toInt());
    const double slope = context->saved_data["slope"].toDouble();
    const bool needs_x = context->needs_input_grad(0);
    const Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Geometry g(kind, x, dy.size(1));
    const Tensor dx = needs_x ? torch::empty_like(x) : Tensor();
    const Tensor before = g.scratch(x, g.in), after = g.scratch(x, g.out);
    std::vector<Tensor> dkernels(g.parts);
    for (Tensor& dkernel : dkernels) dkernel = torch::zeros_like(kernel);
    Tensor dweight;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv_backward", [&] {
      g.for_groups([&](std::int64_t part, std::int64_t first, std::int64_t count) {
        const Tensor v = g.points(before, part, count, g.in);
        const Tensor dm = g.points(after, part, count, g.out);
        winograd_output_adjoint(g.after<scalar_t>(dy, first, count, dm));
        winograd_input(g.before<scalar_t>(x, first, count, v, slope));
        for (std::int64_t k = 0; k < v.size(0); ++k) {
          dkernels[part][k].addmm_(v[k].t(), dm[k]);
          Tensor product = v[k];  // no longer needed: its gradient takes its place
          if (needs_x) at::mm_out(product, dm[k], kernel[k].t());
        }
        if (!needs_x) return;
        auto job = g.before<scalar_t>(dx, first, count, v, slope);
        job.input = x.data_ptr<scalar_t>() + first * g.height * g.width * g.in;
        winograd_input_adjoint(job);
      });
      for (std::size_t i = 1; i < dkernels.size(); ++i) dkernels[0] += dkernels[i];
      dweight = transform_kernel_adjoint<scalar_t>(kind, dkernels[0]);
    });
    const bool has_bias = context->saved_data["bias"].toBool();
    return {dx, dweight, has_bias ? dy.sum({0, 2, 3}) : Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

bool winograd_supports(const Tensor& x, const Tensor& weight) {
  return x.device().is_cpu() && x.scalar_type() == weight.scalar_type() &&
         (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble) &&
         weight.size(0) % kWinogradChannels == 0 && weight.size(1) % kWinogradChannels == 0;
}

Tensor winograd_conv(const Tensor& x, const Tensor& weight, const Tensor& bias, Winograd kind,
                     double slope) {
  CPL_CHECK(winograd_supports(x, weight), "winograd_conv got ", x.toString(), " with ",
            weight.size(1), " and ", weight.size(0),
            " channels, expected float or double on the CPU and multiples of ", kWinogradChannels,
            ": use conv2d");
  CPL_CHECK(weight.dim() == 4 && weight.size(2) == 3 && weight.size(3) == 3 &&
                x.size(1) == weight.size(1),
            "winograd_conv got ", x.sizes(), " with a kernel of ", weight.sizes(),
            ", expected 3x3");
  CPL_CHECK(kind == Winograd::kSame || (x.size(2) % 2 == 0 && x.size(3) % 2 == 0), "a map of ",
            x.size(2), "x", x.size(3), " cannot be pooled by 2x2");
  // apply() does not take undefined tensors; one without elements stands for no bias.
  return WinogradConv::apply(x, weight, bias.defined() ? bias : torch::empty({0}, weight.options()),
                             static_cast<std::int64_t>(kind), slope);
}

}  // namespace cpl
