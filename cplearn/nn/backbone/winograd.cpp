#include "cplearn/nn/backbone/winograd.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t kTilesAtOnce = 128;  // rows of a matrix product: large enough to be fast

// The kernel's transform from both sides, points^2 x 9.
Tensor kernel_matrix(Winograd kind, const Tensor& like) {
  const std::int64_t points = kind == Winograd::kSame ? 6 : 5;
  const Tensor g = torch::from_blob(const_cast<double*>(winograd_kernel_matrix(kind)), {points, 3},
                                    torch::kDouble);
  return torch::kron(g, g).to(like.scalar_type());
}

// out x in x 3 x 3 -> points^2 x in x out
Tensor transform_kernel(Winograd kind, const Tensor& weight) {
  const auto out = weight.size(0), in = weight.size(1);
  const Tensor taps = weight.permute({2, 3, 1, 0}).reshape({9, in * out});
  return kernel_matrix(kind, weight).mm(taps).view({-1, in, out});
}

Tensor transform_kernel_adjoint(Winograd kind, const Tensor& points) {
  const auto in = points.size(1), out = points.size(2);
  const Tensor taps = kernel_matrix(kind, points).t().mm(points.view({points.size(0), in * out}));
  return taps.view({3, 3, in, out}).permute({3, 2, 0, 1}).contiguous();
}

// What one call works on. `x` and `y` are the maps before and after, or their gradients.
struct Geometry {
  Winograd kind;
  std::int64_t images, height, width, in, out;

  Geometry(Winograd k, const Tensor& x, const Tensor& weight)
      : kind(k),
        images(x.size(0)),
        height(x.size(2)),
        width(x.size(3)),
        in(x.size(1)),
        out(weight.size(0)) {}

  std::int64_t scale() const { return kind == Winograd::kPooled ? 2 : 1; }

  template <class T>
  WinogradJob<T> before(const Tensor& map, std::int64_t first, std::int64_t count,
                        const Tensor& points, double slope) const {
    WinogradJob<T> job{kind, count, height, width, in, nullptr, points.data_ptr<T>()};
    job.map = map.data_ptr<T>() + first * height * width * in;
    job.slope = static_cast<T>(slope);
    return job;
  }

  template <class T>
  WinogradJob<T> after(const Tensor& map, std::int64_t first, std::int64_t count,
                       const Tensor& points) const {
    WinogradJob<T> job{kind, count,   height / scale(),    width / scale(),
                       out,  nullptr, points.data_ptr<T>()};
    job.map = map.data_ptr<T>() + first * job.height * job.width * out;
    return job;
  }
};

Tensor channels_last_like(const Tensor& x, at::IntArrayRef shape) {
  return torch::empty(shape, x.options().memory_format(at::MemoryFormat::ChannelsLast));
}

// Splits the images between threads, and each share into groups of about kTilesAtOnce tiles:
// body(thread, first image, images). The split depends on nothing but the number of threads.
void for_groups(const Geometry& g,
                const std::function<void(int, std::int64_t, std::int64_t)>& body) {
  const std::int64_t tiles = winograd_tiles(g.height, g.width);
  const std::int64_t group = std::max<std::int64_t>(1, kTilesAtOnce / tiles);
  const int threads = at::get_num_threads();
  at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::AutoDispatchBelowADInplaceOrView guard;  // no graph is recorded in here
    for (std::int64_t thread = begin; thread < end; ++thread) {
      const std::int64_t last = g.images * (thread + 1) / threads;
      for (std::int64_t first = g.images * thread / threads; first < last; first += group) {
        body(static_cast<int>(thread), first, std::min(group, last - first));
      }
    }
  });
}

// Memory for the points of one group, per thread.
struct Scratch {
  Scratch(const Geometry& g, const Tensor& like, std::int64_t channels)
      : points(at::get_num_threads()), tiles(winograd_tiles(g.height, g.width)) {
    const std::int64_t group = std::max<std::int64_t>(1, kTilesAtOnce / tiles);
    for (Tensor& t : points) {
      t = torch::empty({winograd_points(g.kind) * group * tiles * channels}, like.options());
    }
    this->channels = channels;
    count = winograd_points(g.kind);
  }

  // points x tiles x channels, for so many images
  Tensor get(int thread, std::int64_t images) const {
    return points[thread]
        .narrow(0, 0, count * images * tiles * channels)
        .view({count, images * tiles, channels});
  }

  std::vector<Tensor> points;
  std::int64_t tiles, channels, count;
};

class WinogradConv : public torch::autograd::Function<WinogradConv> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, const Tensor& weight,
                        const Tensor& bias, std::int64_t kind_number, double slope) {
    const auto kind = static_cast<Winograd>(kind_number);
    const Tensor x = x_any.contiguous(at::MemoryFormat::ChannelsLast);
    const Geometry g(kind, x, weight);
    const Tensor kernel = transform_kernel(kind, weight);
    const Tensor y =
        channels_last_like(x, {g.images, g.out, g.height / g.scale(), g.width / g.scale()});
    const Scratch before(g, x, g.in), after(g, x, g.out);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv", [&] {
      for_groups(g, [&](int thread, std::int64_t first, std::int64_t count) {
        const Tensor v = before.get(thread, count), m = after.get(thread, count);
        winograd_input(g.before<scalar_t>(x, first, count, v, slope));
        for (std::int64_t k = 0; k < v.size(0); ++k) {
          Tensor product = m[k];
          at::mm_out(product, v[k], kernel[k]);
        }
        auto job = g.after<scalar_t>(y, first, count, m);
        job.bias = bias.defined() ? bias.data_ptr<scalar_t>() : nullptr;
        winograd_output(job);
      });
    });
    context->save_for_backward({x, kernel});
    context->saved_data["kind"] = kind_number;
    context->saved_data["slope"] = slope;
    context->saved_data["bias"] = bias.defined();
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
    const Geometry g(kind, x, dy.transpose(0, 1));
    const Tensor dx = needs_x ? torch::empty_like(x) : Tensor();
    const Scratch before(g, x, g.in), after(g, x, g.out);
    std::vector<Tensor> dkernels;
    for (int i = 0; i < at::get_num_threads(); ++i) dkernels.push_back(torch::zeros_like(kernel));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv_backward", [&] {
      for_groups(g, [&](int thread, std::int64_t first, std::int64_t count) {
        const Tensor v = before.get(thread, count), dm = after.get(thread, count);
        winograd_output_adjoint(g.after<scalar_t>(dy, first, count, dm));
        winograd_input(g.before<scalar_t>(x, first, count, v, slope));
        for (std::int64_t k = 0; k < v.size(0); ++k) {
          dkernels[thread][k].addmm_(v[k].t(), dm[k]);
          Tensor product = v[k];  // no longer needed: its gradient takes its place
          if (needs_x) at::mm_out(product, dm[k], kernel[k].t());
        }
        if (!needs_x) return;
        auto job = g.before<scalar_t>(dx, first, count, v, slope);
        job.input = x.data_ptr<scalar_t>() + first * g.height * g.width * g.in;
        winograd_input_adjoint(job);
      });
    });
    for (std::size_t i = 1; i < dkernels.size(); ++i) dkernels[0] += dkernels[i];
    const bool has_bias = context->saved_data["bias"].toBool();
    return {dx, transform_kernel_adjoint(kind, dkernels[0]),
            has_bias ? dy.sum({0, 2, 3}) : Tensor(), Tensor(), Tensor()};
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
  return WinogradConv::apply(x, weight, bias, static_cast<std::int64_t>(kind), slope);
}

}  // namespace cpl
