#include "cplearn/nn/backbone/winograd.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/batch_norm.h"
#include "cplearn/nn/second_derivative.h"
#include "cplearn/simd/batch_norm_kernel.h"
#include "cplearn/simd/gemm.h"

namespace cpl {
namespace {

using simd::kChannelMultiple;
using simd::WinogradJob;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr std::int64_t kKernelChannels = 1 << 14;  // of a kernel, per thread at least

// Rows of `channels` elements for the taps or points of a kernel, which is as many numbers as there
// are pairs of channels. That is often a power of two, and rows so far apart would all compete for
// the same few places in the caches.
template <class T>
Tensor kernel_rows(std::int64_t rows, std::int64_t channels, const Tensor& like) {
  return torch::empty({rows, simd::gemm_stride<T>(channels)}, like.options());
}

// Applies a stage to the channels of a kernel, in parallel. `taps`: 9 rows, `points`: as many.
template <class T>
void transform(void (*stage)(const WinogradJob<T>&), Winograd kind, std::int64_t channels,
               const Tensor& taps, const Tensor& points) {
  const std::int64_t blocks = channels / kChannelMultiple;
  at::parallel_for(0, blocks, kKernelChannels / kChannelMultiple, [&](auto begin, auto end) {
    WinogradJob<T> job{
        kind, 1, 3, 3, taps.size(1), taps.data_ptr<T>(), points.data_ptr<T>(), 0, points.size(1)};
    job.begin = begin * kChannelMultiple;
    job.end = end * kChannelMultiple;
    stage(job);
  });
}

// The points of a kernel as simd::gemm reads them, for products of in channels with out, or
// (`adjoint`) of out with in. `weight`: out x in x 3 x 3.
template <class T>
Tensor transform_kernel(Winograd kind, const Tensor& weight_any, bool adjoint) {
  const Tensor weight = weight_any.contiguous();
  const std::int64_t out = weight.size(0), in = weight.size(1), panel = simd::gemm_panel<T>();
  const std::int64_t n = adjoint ? in : out, k = adjoint ? out : in;
  const std::int64_t n_step = 9 * (adjoint ? 1 : in), k_step = 9 * (adjoint ? in : 1);
  const std::int64_t panels = (n + panel - 1) / panel, channels = panels * k * panel;
  const Tensor taps = kernel_rows<T>(9, channels, weight);  // of panels x k x panel
  at::parallel_for(0, panels, 1, [&](std::int64_t begin, std::int64_t end) {
    T* to = taps.data_ptr<T>() + begin * k * panel;
    for (std::int64_t i = begin * k; i < end * k; ++i) {
      const std::int64_t first = i / k * panel;
      const T* const from = weight.data_ptr<T>() + first * n_step + i % k * k_step;
      for (std::int64_t lane = 0; lane < panel; ++lane, ++to) {
        const bool inside = first + lane < n;
        for (int tap = 0; tap < 9; ++tap)
          to[tap * taps.size(1)] = inside ? from[lane * n_step + tap] : T{0};
      }
    }
  });
  const Tensor points = kernel_rows<T>(simd::winograd_points(kind), channels, weight);
  transform<T>(simd::winograd_kernel<T>, kind, channels, taps, points);
  return points;
}

// The gradient of a kernel (out x in x 3 x 3) from that of its points (rows of in x out).
template <class T>
Tensor transform_kernel_adjoint(Winograd kind, const Tensor& points, std::int64_t in,
                                std::int64_t out) {
  constexpr std::int64_t kBlock = kChannelMultiple;
  const Tensor taps = kernel_rows<T>(9, in * out, points);
  transform<T>(simd::winograd_kernel_adjoint<T>, kind, in * out, taps, points);
  const Tensor weight = torch::empty({out, in, 3, 3}, points.options());
  at::parallel_for(0, out / kBlock, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin * kBlock; o < end * kBlock; o += kBlock) {
      for (std::int64_t i = 0; i < in; ++i) {
        const T* const from = taps.data_ptr<T>() + i * out + o;
        T* const to = weight.data_ptr<T>() + (o * in + i) * 9;
        for (std::int64_t lane = 0; lane < kBlock; ++lane) {
          for (int tap = 0; tap < 9; ++tap)
            to[lane * in * 9 + tap] = from[tap * taps.size(1) + lane];
        }
      }
    }
  });
  return weight;
}

// Points of the tiles of some images, for each of `slots`: slot x point x tile x channels, with
// rows that simd::gemm reads where they lie. Nor do points compete for the same place in a cache:
// otherwise transforms took 1.6 times as long (AVX2, 64 channels).
template <class T>
struct Points {
  Points(std::int64_t slots, std::int64_t points, std::int64_t tiles, std::int64_t channels,
         const Tensor& like)
      : tile_step(simd::gemm_stride<T>(channels)),
        point_step(simd::gemm_stride<T>(tiles * tile_step)),
        slot_step(points * point_step),
        memory(torch::empty({slots * slot_step}, like.options())) {}

  T* at(std::int64_t slot, std::int64_t point, std::int64_t tile) const {
    return memory.data_ptr<T>() + slot * slot_step + point * point_step + tile * tile_step;
  }

  std::int64_t tile_step, point_step, slot_step;
  Tensor memory;
};

// Images of `part`, whose points are in `slot` from its tile `tile` on.
struct Group {
  std::int64_t part, slot, first, count, tile;
};

// One call: maps before (n x height x width x in) and after the convolution, and how the work is
// shared out. Where there are more tiles than channels, threads take groups of images that fit
// their caches, and transform and multiply each on their own. Otherwise the kernel is what is
// large: all images are transformed first, and threads take points, so that each kernel, and the
// gradient of each, passes through one of them once.
class Plan {
 public:
  Plan(Winograd k, const Tensor& x, std::int64_t channels_out)
      : kind(k),
        images(x.size(0)),
        height(x.size(2)),
        width(x.size(3)),
        in(x.size(1)),
        out(channels_out),
        height_out(k == Winograd::kSame ? height : (height + 1) / 2),
        width_out(k == Winograd::kSame ? width : (width + 1) / 2),
        points(simd::winograd_points(k)),
        tiles(simd::winograd_tiles(height, width)),
        parts_(std::clamp<std::int64_t>(images * tiles / kTilesPerPart, 1, most_parts(images))),
        by_points_(images * tiles * (in + out) <= parts_ * in * out),
        group_(by_points_ ? images : std::clamp<std::int64_t>(kTilesAtOnce / tiles, 1, images)) {}

  std::int64_t parts() const { return parts_; }
  std::int64_t slots() const { return by_points_ ? 1 : parts_; }

  template <class T>
  Points<T> scratch(std::int64_t channels, const Tensor& like) const {
    return Points<T>(slots(), points, group_ * tiles, channels, like);
  }

  template <class T>
  WinogradJob<T> before(const Tensor& map, const Group& g, const Points<T>& p) const {
    T* const begin = map.data_ptr<T>() + g.first * height * width * in;
    return {kind,        g.count,     height, width, in, begin, p.at(g.slot, 0, g.tile),
            p.tile_step, p.point_step};
  }

  template <class T>
  WinogradJob<T> after(const Tensor& map, const Group& g, const Points<T>& p) const {
    T* const begin = map.data_ptr<T>() + g.first * height_out * width_out * out;
    return {kind,        g.count,     height_out, width_out, out, begin, p.at(g.slot, 0, g.tile),
            p.tile_step, p.point_step};
  }

  // gather(group); multiply(point, slot, tiles, whether it is the slot's first) for each point;
  // scatter(group). Who does what depends on nothing but the number of threads.
  template <class Gather, class Multiply, class Scatter>
  void run(const Gather& gather, const Multiply& multiply, const Scatter& scatter) const {
    const auto share = [](std::int64_t count, const auto& body) {
      at::parallel_for(0, count, 1,
                       [&](std::int64_t begin, std::int64_t end) { body(begin, end); });
    };
    if (by_points_) {
      const auto each_part = [&](const auto& body) {
        share(parts_, [&](auto begin, auto end) {
          for (auto part = begin; part < end; ++part) {
            const std::int64_t first = images * part / parts_;
            body(Group{part, 0, first, images * (part + 1) / parts_ - first, first * tiles});
          }
        });
      };
      each_part(gather);
      share(points, [&](auto begin, auto end) {
        for (auto point = begin; point < end; ++point) multiply(point, 0, images * tiles, true);
      });
      each_part(scatter);
      return;
    }
    share(parts_, [&](auto begin, auto end) {
      for (auto part = begin; part < end; ++part) {
        const std::int64_t start = images * part / parts_, last = images * (part + 1) / parts_;
        for (std::int64_t first = start; first < last; first += group_) {
          const Group group{part, part, first, std::min(group_, last - first), 0};
          gather(group);
          for (std::int64_t point = 0; point < points; ++point)
            multiply(point, part, group.count * tiles, first == start);
          scatter(group);
        }
      }
    });
  }

  const Winograd kind;
  const std::int64_t images, height, width, in, out, height_out, width_out, points, tiles;

 private:
  static constexpr std::int64_t kTilesPerPart = 64;  // at least: each part sums a kernel of its own

  // Rows of a product: few keep the points near, many fetch the kernel seldom.
  static constexpr std::int64_t kTilesAtOnce = 128;

  // Every part has an image: without one, it would leave its slot of sums unwritten.
  static std::int64_t most_parts(std::int64_t image_count) {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(image_count, at::get_num_threads()));
  }

  std::int64_t parts_;
  bool by_points_;
  std::int64_t group_;
};

// The convolution of what `prepare(job)` says is read of x.
template <class T, class Prepare>
Tensor convolve(Winograd kind, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const Prepare& prepare) {
  RECORD_FUNCTION("cplearn::convolution", {});  // so that profilers see it as one
  const Plan plan(kind, x, weight.size(0));
  const Tensor y = torch::empty({plan.images, plan.out, plan.height_out, plan.width_out},
                                x.options().memory_format(at::MemoryFormat::ChannelsLast));
  const Tensor kernel = transform_kernel<T>(kind, weight, false);
  const auto v = plan.scratch<T>(plan.in, x), m = plan.scratch<T>(plan.out, x);
  plan.run(
      [&](const Group& group) {
        auto job = plan.before(x, group, v);
        prepare(job);
        simd::winograd_input(job);
      },
      [&](std::int64_t point, std::int64_t slot, std::int64_t tiles, bool) {
        const T* const factor = kernel.data_ptr<T>() + point * kernel.size(1);
        simd::gemm<T>({tiles, plan.out, plan.in, v.at(slot, point, 0), v.tile_step, 1, factor, 0, 0,
                       m.at(slot, point, 0), m.tile_step, false, true});
      },
      [&](const Group& group) {
        auto job = plan.after(y, group, m);
        if (bias.numel() > 0) job.bias = bias.data_ptr<T>();
        simd::winograd_output(job);
      });
  return y;
}

// Its gradients. dx, unless undefined, is that of what was read; finish(job, part) sees it group by
// group, while it is in the cache. Returns the kernel's.
template <class T, class Prepare, class Finish>
Tensor convolve_backward(Winograd kind, const Tensor& x, const Tensor& weight, const Tensor& dy,
                         const Tensor& dx, const Prepare& prepare, const Finish& finish) {
  RECORD_FUNCTION("cplearn::convolution_backward", {});
  const Plan plan(kind, x, dy.size(1));
  const Tensor dkernels = kernel_rows<T>(plan.slots() * plan.points, plan.in * plan.out, x);
  Tensor kernel;
  if (dx.defined()) kernel = transform_kernel<T>(kind, weight, true);
  const auto v = plan.scratch<T>(plan.in, x), dm = plan.scratch<T>(plan.out, x);
  plan.run(
      [&](const Group& group) {
        auto job = plan.before(x, group, v);
        prepare(job);
        simd::winograd_input(job);
        simd::winograd_output_adjoint(plan.after(dy, group, dm));
      },
      [&](std::int64_t point, std::int64_t slot, std::int64_t tiles, bool first) {
        T* const dkernel = dkernels.data_ptr<T>() + (slot * plan.points + point) * dkernels.size(1);
        T* const before = v.at(slot, point, 0);
        const T* const after = dm.at(slot, point, 0);
        simd::gemm<T>({plan.in, plan.out, tiles, before, 1, v.tile_step, after, dm.tile_step, 1,
                       dkernel, plan.out, !first});
        if (!dx.defined()) return;
        // The points of x are no longer needed: their gradient takes their place.
        const T* const factor = kernel.data_ptr<T>() + point * kernel.size(1);
        simd::gemm<T>({tiles, plan.in, plan.out, after, dm.tile_step, 1, factor, 0, 0, before,
                       v.tile_step, false, true});
      },
      [&](const Group& group) {
        if (!dx.defined()) return;
        auto job = plan.before(dx, group, v);
        job.input = x.data_ptr<T>() + (job.map - dx.data_ptr<T>());
        prepare(job);
        simd::winograd_input_adjoint(job);
        finish(job, group.part);
      });
  const Tensor dkernel = dkernels.narrow(0, 0, plan.points);
  for (std::int64_t i = 1; i < plan.slots(); ++i)
    dkernel.add_(dkernels.narrow(0, i * plan.points, plan.points));
  return transform_kernel_adjoint<T>(kind, dkernel, plan.in, plan.out);
}

class WinogradConv : public torch::autograd::Function<WinogradConv> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, const Tensor& weight,
                        const Tensor& bias, std::int64_t kind, double slope) {
    const at::NoGradGuard no_grad;
    const Tensor x = x_any.contiguous(at::MemoryFormat::ChannelsLast);
    context->save_for_backward({x, weight});
    context->saved_data["kind"] = kind;
    context->saved_data["slope"] = slope;
    context->saved_data["bias"] = bias.numel() > 0;
    Tensor y;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv", [&] {
      y = convolve<scalar_t>(static_cast<Winograd>(kind), x, weight, bias,
                             [&](auto& job) { job.slope = static_cast<scalar_t>(slope); });
    });
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    refuse_second_derivative("winograd_conv");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1];
    const auto kind = static_cast<Winograd>(context->saved_data["kind"].toInt());
    const double slope = context->saved_data["slope"].toDouble();
    const Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor dx = context->needs_input_grad(0) ? torch::empty_like(x) : Tensor();
    Tensor dweight;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "winograd_conv_backward", [&] {
      dweight = convolve_backward<scalar_t>(
          kind, x, weight, dy, dx, [&](auto& job) { job.slope = static_cast<scalar_t>(slope); },
          [](const auto&, std::int64_t) {});
    });
    const bool has_bias = context->saved_data["bias"].toBool();
    return {dx, dweight, has_bias ? dy.sum({0, 2, 3}) : Tensor(), Tensor(), Tensor()};
  }
};

// conv(relu(norm(x))), where norm is that of NormFactors(gamma, beta, moments).
class NormalisedConv : public torch::autograd::Function<NormalisedConv> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& gamma, const Tensor& beta, const Tensor& moments,
                        double epsilon, bool training, std::int64_t kind) {
    const at::NoGradGuard no_grad;
    const NormFactors norm(gamma, beta, moments, epsilon);
    context->save_for_backward(
        {x, weight, gamma, norm.scale, norm.offset, norm.mean, norm.inverse});
    context->saved_data["kind"] = kind;
    context->saved_data["training"] = training;
    Tensor y;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "normalised_conv", [&] {
      y = convolve<scalar_t>(static_cast<Winograd>(kind), x, weight, torch::empty({0}, x.options()),
                             [&](auto& job) {
                               job.scale = norm.scale.template data_ptr<scalar_t>();
                               job.offset = norm.offset.template data_ptr<scalar_t>();
                             });
    });
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    refuse_second_derivative("normalised_conv");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &gamma = saved[2], &scale = saved[3],
                 &offset = saved[4], &mean = saved[5], &inverse = saved[6];
    const auto kind = static_cast<Winograd>(context->saved_data["kind"].toInt());
    const Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor dx = torch::empty_like(x), centre = mean.to(x.scalar_type());
    const std::int64_t channels = x.size(1), count = x.numel() / channels;
    const Tensor sums = torch::zeros({at::get_num_threads(), 2, channels}, torch::kDouble);
    Tensor dweight;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "normalised_conv_backward", [&] {
      dweight = convolve_backward<scalar_t>(
          kind, x, weight, dy, dx,
          [&](auto& job) {
            job.scale = scale.template data_ptr<scalar_t>();
            job.offset = offset.template data_ptr<scalar_t>();
          },
          [&](const auto& job, std::int64_t part) {
            simd::NormJob<scalar_t> norm{job.images * job.height * job.width, channels, job.input};
            norm.scale = job.scale;
            norm.offset = job.offset;
            norm.centre = centre.template data_ptr<scalar_t>();
            norm.dx = job.map;
            simd::norm_relu_gradient_sums(norm, sums.data_ptr<double>() + part * 2 * channels);
          });
    });
    const bool training = context->saved_data["training"].toBool();
    const NormGradient gradient(sums.sum(0), gamma, mean, inverse, training ? count : 0);
    norm_input_gradient(dx, x, gradient);
    return {dx, dweight, gradient.weight, gradient.bias, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

void check_kernel(const Tensor& x, const Tensor& weight) {
  CPL_CHECK(winograd_supports(x, weight), "winograd_conv got ", x.toString(), " with ",
            weight.size(1), " and ", weight.size(0),
            " channels, expected float or double on the CPU and multiples of ", kChannelMultiple,
            ": use conv2d");
  CPL_CHECK(weight.dim() == 4 && weight.size(2) == 3 && weight.size(3) == 3 &&
                x.size(1) == weight.size(1),
            "winograd_conv got ", x.sizes(), " with a kernel of ", weight.sizes(),
            ", expected 3x3");
}

}  // namespace

bool winograd_supports(const Tensor& x, const Tensor& weight) {
  return x.device().is_cpu() && x.scalar_type() == weight.scalar_type() &&
         (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kDouble) &&
         weight.size(0) % kChannelMultiple == 0 && weight.size(1) % kChannelMultiple == 0;
}

Tensor winograd_conv(const Tensor& x, const Tensor& weight, const Tensor& bias, Winograd kind,
                     double slope) {
  check_kernel(x, weight);
  CPL_CHECK(!bias.defined() ||
                (bias.dim() == 1 && bias.size(0) == weight.size(0) && bias.is_contiguous() &&
                 bias.scalar_type() == x.scalar_type() && bias.device().is_cpu()),
            "winograd_conv got a bias of ", bias.toString(), " ", bias.sizes(), ", expected ",
            weight.size(0), " numbers of the kernel's type, side by side");
  CPL_CHECK(slope <= 1, "winograd_conv got the slope ", slope,
            ", expected at most 1: the activation is the larger of x and slope * x");
  CPL_CHECK(kind != Winograd::kPooled || (x.size(2) % 2 == 0 && x.size(3) % 2 == 0), "a map of ",
            x.size(2), "x", x.size(3), " cannot be pooled by 2x2");
  // apply() does not take undefined tensors; one without elements stands for no bias.
  return WinogradConv::apply(x, weight, bias.defined() ? bias : torch::empty({0}, weight.options()),
                             static_cast<std::int64_t>(kind), slope);
}

Tensor normalised_conv(torch::nn::BatchNorm2d& norm, const Tensor& x_any, const Tensor& weight,
                       Winograd kind) {
  check_kernel(x_any, weight);
  CPL_CHECK(normalise_supports(norm, x_any), "normalised_conv got ", x_any.toString(),
            " and a norm of another kind: use normalise and winograd_conv");
  const Tensor x = x_any.contiguous(at::MemoryFormat::ChannelsLast);
  return NormalisedConv::apply(x, weight, norm->weight, norm->bias, norm_moments(norm, x),
                               norm->options.eps(), norm->is_training(),
                               static_cast<std::int64_t>(kind));
}

}  // namespace cpl
