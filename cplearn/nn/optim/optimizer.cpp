#include "cplearn/nn/optim/optimizer.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "cplearn/base/error.h"

namespace cpl {

// What an update needs to know besides the numbers themselves.
struct OptimizerStep {
  double rate;   // learning rate
  double count;  // 1 in the first step
  double decay;  // weight decay of this parameter
  bool is_1d;    // bias or norm
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
template <bool decoupled, class T>
void adam(const OptimizerOptions& o, const Step& step, T* p, const T* g, T* m, T* v,
          std::int64_t size) {
  const T beta1 = o.beta1, beta2 = o.beta2, rest1 = 1 - o.beta1, rest2 = 1 - o.beta2;
  const T rate = step.rate / (1 - std::pow(o.beta1, step.count));
  const T root = 1 / std::sqrt(1 - std::pow(o.beta2, step.count)), epsilon = o.epsilon;
  const T l2 = decoupled ? 0 : step.decay, keep = decoupled ? 1 - step.rate * step.decay : 1;
  for_each(size, [=](std::int64_t i) {
    const T gradient = g[i] + l2 * p[i];
    m[i] = beta1 * m[i] + rest1 * gradient;
    v[i] = beta2 * v[i] + rest2 * gradient * gradient;
    p[i] = keep * p[i] - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
  });
}

template <class T>
void momentum(T* p, const T* g, T* m, std::int64_t size, T scale, T l2, T mu, T rate,
              bool nesterov) {
  for_each(size, [=](std::int64_t i) {
    const T gradient = scale * (g[i] + l2 * p[i]);
    m[i] = mu * m[i] + gradient;
    p[i] -= rate * (nesterov ? gradient + mu * m[i] : m[i]);
  });
}

template <class T>
void sgd(const OptimizerOptions& o, const Step& step, T* p, const T* g, T* m, T*,
         std::int64_t size) {
  momentum<T>(p, g, m, size, 1, step.decay, o.momentum, step.rate, o.nesterov);
}

template <class T>
double norm(const T* x, std::int64_t size) {
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
template <class T>
void lars(const OptimizerOptions& o, const Step& step, T* p, const T* g, T* m, T*,
          std::int64_t size) {
  double scale = 1;
  if (!step.is_1d) {
    const double p_norm = norm(p, size), g_norm = norm(g, size);
    if (p_norm > 0 && g_norm > 0) {
      scale = o.trust * p_norm / (g_norm + step.decay * p_norm + 1e-8);
      if (o.lars_clip) scale = std::min(scale / step.rate, 1.0);
    }
  }
  const double decay = step.is_1d ? 0 : step.decay;
  momentum<T>(p, g, m, size, scale, decay, o.momentum, step.rate, false);
}

}  // namespace

const std::vector<OptimizerRow>& optimizers() {
  static const std::vector<OptimizerRow> table = {
      {"adam",
       "Adam; weight decay is added to the gradient (L2)",
       {"exp_avg", "exp_avg_sq"},
       adam<false, float>,
       adam<false, double>},
      {"adamw",
       "Adam with decoupled weight decay",
       {"exp_avg", "exp_avg_sq"},
       adam<true, float>,
       adam<true, double>},
      {"sgd", "momentum, with nesterov if asked for", {"momentum_buffer"}, sgd<float>, sgd<double>},
      {"lars",
       "SGD with a rate per layer, for large batches",
       {"momentum_buffer"},
       lars<float>,
       lars<double>},
  };
  return table;
}

namespace {

const OptimizerRow* find(const std::string& name) {
  std::string known;
  for (const OptimizerRow& row : optimizers()) {
    if (row.name == name) return &row;
    known += str(known.empty() ? "" : ", ", row.name);
  }
  throw Error(str("there is no optimiser ", name, ": choose one of ", known));
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
    : options_(options), row_(find(options.name)) {
  std::int64_t total = 0;
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.requires_grad()) continue;
    CPL_CHECK(parameter.device().is_cpu() && (parameter.scalar_type() == torch::kFloat ||
                                              parameter.scalar_type() == torch::kDouble),
              "parameter ", name, " is ", parameter.toString(),
              ", expected float or double on the CPU: convert the network before");
    CPL_CHECK(slices_.empty() || parameter.scalar_type() == slices_[0].parameter.scalar_type(),
              "parameter ", name, " is ", parameter.toString(), " and ", slices_[0].name, " is ",
              slices_[0].parameter.toString(), ": convert the network to one type");
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
  attach_gradients();
  ++steps_;
  const auto apply = [&](auto update, auto zero) {
    using T = decltype(zero);
    T* const a = buffers_[0].data_ptr<T>();
    T* const b = buffers_.back().data_ptr<T>();
    for (const Slice& slice : slices_) {
      const bool is_1d = slice.parameter.dim() <= 1;
      const double decay = is_1d && !options_.decay_all ? 0 : options_.weight_decay;
      const Step now{learning_rate, static_cast<double>(steps_), decay, is_1d};
      update(options_, now, values_.data_ptr<T>() + slice.begin,
             gradients_.data_ptr<T>() + slice.begin, a + slice.begin, b + slice.begin, slice.size);
    }
  };
  if (values_.scalar_type() == torch::kFloat) {
    apply(row_->update_float, 0.0f);
  } else {
    apply(row_->update_double, 0.0);
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
