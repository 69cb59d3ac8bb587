#include "cplearn/nn/optim/optimizer.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <type_traits>

#include "cplearn/base/options.h"

namespace cpl {

// What an update needs to know besides the numbers themselves.
struct OptimizerStep {
  double rate;   // learning rate
  double count;  // 1 in the first step
  double decay;  // weight decay of this parameter
  bool is_1d;    // bias or norm
};

// The update of one parameter p with gradient g and the state buffers a and b (of those with one
// buffer, b is a). Twice: fast, for floats on a CPU, and as tensor operations, for every device and
// type.
struct OptimizerUpdate {
  void (*fast)(const OptimizerOptions& options, const OptimizerStep& step, float* p, const float* g,
               float* a, float* b, std::int64_t size);
  void (*tensors)(const OptimizerOptions& options, const OptimizerStep& step,
                  const torch::Tensor& p, const torch::Tensor& g, const torch::Tensor& a,
                  const torch::Tensor& b);
};

namespace {

using Step = OptimizerStep;

constexpr std::int64_t kGrain = 1 << 15;  // elements per thread at least

// Calls body(i) for every element, in parallel.
template <class Body>
void for_each(std::int64_t size, const Body& body) {
  at::parallel_for(0, size, kGrain, [&body](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

// Kingma and Ba, ICLR 2015; decoupled: Loshchilov and Hutter, ICLR 2019.
struct AdamFactors {
  AdamFactors(const OptimizerOptions& o, const Step& step, bool decoupled)
      : rate(step.rate / (1 - std::pow(o.beta1, step.count))),
        root(1 / std::sqrt(1 - std::pow(o.beta2, step.count))),
        l2(decoupled ? 0 : step.decay),
        keep(decoupled ? 1 - step.rate * step.decay : 1) {}
  double rate, root, l2, keep;
};

template <bool decoupled>
void adam(const OptimizerOptions& o, const Step& step, float* p, const float* g, float* m, float* v,
          std::int64_t size) {
  const AdamFactors factors(o, step, decoupled);
  const auto beta1 = static_cast<float>(o.beta1), beta2 = static_cast<float>(o.beta2);
  const auto rest1 = static_cast<float>(1 - o.beta1), rest2 = static_cast<float>(1 - o.beta2);
  const auto rate = static_cast<float>(factors.rate), root = static_cast<float>(factors.root);
  const auto l2 = static_cast<float>(factors.l2), keep = static_cast<float>(factors.keep);
  const auto epsilon = static_cast<float>(o.epsilon);
  for_each(size, [=](std::int64_t i) {
    const float gradient = g[i] + l2 * p[i];
    m[i] = beta1 * m[i] + rest1 * gradient;
    v[i] = beta2 * v[i] + rest2 * gradient * gradient;
    p[i] = keep * p[i] - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
  });
}

template <bool decoupled>
void adam(const OptimizerOptions& o, const Step& step, const torch::Tensor& p,
          const torch::Tensor& g, const torch::Tensor& m, const torch::Tensor& v) {
  const AdamFactors factors(o, step, decoupled);
  const torch::Tensor gradient = g.add(p, factors.l2);
  m.mul_(o.beta1).add_(gradient, 1 - o.beta1);
  v.mul_(o.beta2).addcmul_(gradient, gradient, 1 - o.beta2);
  p.mul_(factors.keep).addcdiv_(m, v.sqrt().mul_(factors.root).add_(o.epsilon), -factors.rate);
}

void momentum(float* p, const float* g, float* m, std::int64_t size, float scale, float l2,
              float mu, float rate, bool nesterov) {
  for_each(size, [=](std::int64_t i) {
    const float gradient = scale * (g[i] + l2 * p[i]);
    m[i] = mu * m[i] + gradient;
    p[i] -= rate * (nesterov ? gradient + mu * m[i] : m[i]);
  });
}

void momentum(const torch::Tensor& p, const torch::Tensor& g, const torch::Tensor& m, double scale,
              double l2, double mu, double rate, bool nesterov) {
  const torch::Tensor gradient = g.add(p, l2).mul_(scale);
  m.mul_(mu).add_(gradient);
  p.sub_(nesterov ? gradient.add_(m, mu) : m, rate);
}

void sgd(const OptimizerOptions& o, const Step& step, float* p, const float* g, float* m, float*,
         std::int64_t size) {
  momentum(p, g, m, size, 1, static_cast<float>(step.decay), static_cast<float>(o.momentum),
           static_cast<float>(step.rate), o.nesterov);
}

void sgd(const OptimizerOptions& o, const Step& step, const torch::Tensor& p,
         const torch::Tensor& g, const torch::Tensor& m, const torch::Tensor&) {
  momentum(p, g, m, 1, step.decay, o.momentum, step.rate, o.nesterov);
}

double norm(const float* x, std::int64_t size) {
  constexpr int kLanes = 8;  // independent sums, so that additions need not wait for each other
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) sums[j] += static_cast<double>(x[i + j]) * x[i + j];
  }
  for (; i < size; ++i) sums[0] += static_cast<double>(x[i]) * x[i];
  return std::sqrt(std::accumulate(sums, sums + kLanes, 0.0));
}

// You et al., 2017: each parameter moves in proportion to its own length. 1-D parameters are left
// to plain SGD without decay.
double lars_scale(const OptimizerOptions& o, const Step& step, double p_norm, double g_norm) {
  if (p_norm == 0 || g_norm == 0) return 1;
  const double scale = o.trust * p_norm / (g_norm + step.decay * p_norm + 1e-8);
  return o.lars_clip ? std::min(scale / step.rate, 1.0) : scale;
}

void lars(const OptimizerOptions& o, const Step& step, float* p, const float* g, float* m, float*,
          std::int64_t size) {
  const double scale = step.is_1d ? 1 : lars_scale(o, step, norm(p, size), norm(g, size));
  momentum(p, g, m, size, static_cast<float>(scale),
           static_cast<float>(step.is_1d ? 0 : step.decay), static_cast<float>(o.momentum),
           static_cast<float>(step.rate), false);
}

void lars(const OptimizerOptions& o, const Step& step, const torch::Tensor& p,
          const torch::Tensor& g, const torch::Tensor& m, const torch::Tensor&) {
  const double scale =
      step.is_1d ? 1 : lars_scale(o, step, p.norm().item<double>(), g.norm().item<double>());
  momentum(p, g, m, scale, step.is_1d ? 0 : step.decay, o.momentum, step.rate, false);
}

const OptimizerUpdate& find_update(const std::string& name) {
  static const std::map<std::string, OptimizerUpdate> updates = {
      {"adam", {adam<false>, adam<false>}},
      {"adamw", {adam<true>, adam<true>}},
      {"sgd", {sgd, sgd}},
      {"lars", {lars, lars}}};
  return updates.at(name);
}

NamedParameters parameters_of(const torch::nn::Module& module) {
  NamedParameters parameters;
  for (const auto& item : module.named_parameters())
    parameters.emplace_back(item.key(), item.value());
  return parameters;
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& module, const OptimizerOptions& options)
    : Optimizer(parameters_of(module), options) {}

Optimizer::Optimizer(const NamedParameters& parameters, const OptimizerOptions& options)
    : options_(options),
      row_(&find_row(optimizers(), "optimiser", options.name)),
      update_(&find_update(options.name)) {
  std::int64_t total = 0;
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.requires_grad()) continue;
    CPL_CHECK(parameter.scalar_type() == torch::kFloat || parameter.scalar_type() == torch::kDouble,
              "parameter ", name, " is ", parameter.toString(),
              ", expected float or double: convert the network before");
    CPL_CHECK(slices_.empty() || (parameter.scalar_type() == slices_[0].parameter.scalar_type() &&
                                  parameter.device() == slices_[0].parameter.device()),
              "parameter ", name, " is ", parameter.toString(), " and ", slices_[0].name, " is ",
              slices_[0].parameter.toString(), ": convert the network to one type and device");
    slices_.push_back({name, parameter, total, parameter.numel()});
    total += parameter.numel();
  }
  CPL_CHECK(!slices_.empty(), "there is nothing to train: every parameter is frozen");

  const torch::NoGradGuard guard;
  values_ = torch::empty({total}, slices_[0].parameter.options().requires_grad(false));
  gradients_ = torch::zeros_like(values_);
  for (const std::string& name : row_->buffers) {
    (void)name;
    buffers_.push_back(torch::zeros_like(values_));
  }
  for (Slice& slice : slices_) {
    const torch::Tensor place = part(values_, slice);
    place.copy_(slice.parameter);
    slice.parameter.set_data(place);
  }
  attach_gradients();
}

torch::Tensor Optimizer::part(const torch::Tensor& flat, const Slice& slice) const {
  return flat.narrow(0, slice.begin, slice.size).view(slice.parameter.sizes());
}

// autograd adds into a gradient that exists, hence into the flat buffer. A gradient that came from
// elsewhere (somebody reset it) is taken over; one that is missing counts as zero.
void Optimizer::attach_gradients() {
  const torch::NoGradGuard guard;
  for (Slice& slice : slices_) {
    const torch::Tensor place = part(gradients_, slice);
    torch::Tensor& gradient = slice.parameter.mutable_grad();
    if (gradient.defined() && gradient.data_ptr() == place.data_ptr()) continue;
    if (gradient.defined()) {
      place.copy_(gradient);
    } else {
      place.zero_();
    }
    gradient = place;
  }
}

torch::Tensor Optimizer::gradients() {
  attach_gradients();
  return gradients_;
}

void Optimizer::zero_grad() { gradients().zero_(); }

double Optimizer::clip_gradients(double max_norm) {
  const torch::Tensor flat = gradients();
  const double length = flat.norm().item<double>();
  if (length > max_norm) flat.mul_(max_norm / (length + 1e-6));
  return length;
}

void Optimizer::step(double learning_rate) {
  const torch::NoGradGuard guard;
  attach_gradients();
  ++steps_;
  const bool fast = values_.device().is_cpu() && values_.scalar_type() == torch::kFloat;
  for (const Slice& slice : slices_) {
    const bool is_1d = slice.parameter.dim() <= 1;
    const double decay = is_1d && !options_.decay_all ? 0 : options_.weight_decay;
    const Step now{learning_rate, static_cast<double>(steps_), decay, is_1d};
    if (fast) {
      const auto at = [&](const torch::Tensor& flat) {
        return flat.data_ptr<float>() + slice.begin;
      };
      update_->fast(options_, now, at(values_), at(gradients_), at(buffers_[0]),
                    at(buffers_.back()), slice.size);
    } else {
      update_->tensors(options_, now, part(values_, slice), part(gradients_, slice),
                       part(buffers_[0], slice), part(buffers_.back(), slice));
    }
  }
}

NamedTensors Optimizer::state() const {
  NamedTensors result = {{"step", torch::tensor(steps_, torch::kLong)}};
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (const Slice& slice : slices_) {
      result.emplace(str(row_->buffers[i], ".", slice.name), part(buffers_[i], slice));
    }
  }
  return result;
}

void Optimizer::load_state(const NamedTensors& state) {
  const NamedTensors target = this->state();
  copy_tensors(state, target);
  steps_ = target.at("step").item<std::int64_t>();
}

}  // namespace cpl
