#include "cplearn/ssl/encode.h"

#include <ATen/autocast_mode.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "cplearn/base/error.h"
#include "cplearn/nn/state.h"

namespace cpl {
namespace {

// The names changed with libtorch 2.4.
#if TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 204
bool autocast_enabled(at::Device d) { return at::autocast::is_autocast_enabled(d.type()); }
void enable_autocast(at::Device d, bool on) { at::autocast::set_autocast_enabled(d.type(), on); }
at::ScalarType autocast_type(at::Device d) { return at::autocast::get_autocast_dtype(d.type()); }
void set_autocast_type(at::Device d, at::ScalarType t) {
  at::autocast::set_autocast_dtype(d.type(), t);
}
#else
bool autocast_enabled(at::Device d) {
  return d.is_cpu() ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
void enable_autocast(at::Device d, bool on) {
  d.is_cpu() ? at::autocast::set_cpu_enabled(on) : at::autocast::set_enabled(on);
}
at::ScalarType autocast_type(at::Device d) {
  return d.is_cpu() ? at::autocast::get_autocast_cpu_dtype()
                    : at::autocast::get_autocast_gpu_dtype();
}
void set_autocast_type(at::Device d, at::ScalarType t) {
  d.is_cpu() ? at::autocast::set_autocast_cpu_dtype(t) : at::autocast::set_autocast_gpu_dtype(t);
}
#endif

at::Tensor encode_whole(Backbone& backbone, const at::Tensor& images, bool bf16) {
  const Autocast autocast(bf16, images.device());
  return backbone.forward(images).to(at::kFloat);
}

std::vector<at::Tensor> copies_of_buffers(const Backbone& backbone) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& buffer : backbone.buffers()) copies.push_back(buffer.clone());
  return copies;
}

// Forward in parts without a graph; backward computes each part again, with one. The second time
// sees the same random numbers and mode, and leaves running statistics alone.
class EncodeInParts : public torch::autograd::Function<EncodeInParts> {
 public:
  // `trigger` needs a gradient, so that backward is called at all.
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& images,
                            const at::Tensor& /*trigger*/, std::int64_t backbone,
                            std::int64_t parts, bool bf16) {
    context->save_for_backward({images, torch_random_state()});
    context->saved_data["backbone"] = backbone;
    context->saved_data["parts"] = parts;
    context->saved_data["bf16"] = bf16;
    context->saved_data["training"] = reinterpret_cast<const Backbone*>(backbone)->is_training();
    std::vector<at::Tensor> results;
    for (const at::Tensor& part : images.chunk(parts))
      results.push_back(encode_whole(*reinterpret_cast<Backbone*>(backbone), part, bf16));
    return at::cat(results);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto& backbone = *reinterpret_cast<Backbone*>(context->saved_data["backbone"].toInt());
    const auto saved = context->get_saved_variables();
    const std::vector<at::Tensor> parts = saved[0].chunk(context->saved_data["parts"].toInt());
    const at::Tensor random_now = torch_random_state();
    const std::vector<at::Tensor> buffers = copies_of_buffers(backbone);
    const bool training_now = backbone.is_training();
    set_torch_random_state(saved[1]);
    backbone.train(context->saved_data["training"].toBool());
    std::int64_t begin = 0;
    for (const at::Tensor& part : parts) {
      at::AutoGradMode with_graph(true);
      const at::Tensor z = encode_whole(backbone, part, context->saved_data["bf16"].toBool());
      torch::autograd::backward({z}, {gradients[0].narrow(0, begin, part.size(0))});
      begin += part.size(0);
    }
    set_torch_random_state(random_now);
    backbone.train(training_now);
    const at::NoGradGuard no_grad;
    std::size_t i = 0;
    for (at::Tensor& buffer : backbone.buffers()) buffer.copy_(buffers[i++]);
    return {{}, {}, {}, {}, {}};
  }
};

}  // namespace

Autocast::Autocast(bool enabled, at::Device device)
    : device_(device), was_enabled_(autocast_enabled(device)), was_type_(autocast_type(device)) {
  enable_autocast(device_, enabled);
  if (enabled) set_autocast_type(device_, at::kBFloat16);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  // Weights converted to bf16 are cached; they change with the next step.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  enable_autocast(device_, was_enabled_);
  set_autocast_type(device_, was_type_);
}

at::Tensor torch_random_state() {
  return at::globalContext().defaultGenerator(at::kCPU).get_state();
}

void set_torch_random_state(const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_state(state);
}

at::Tensor encode(Backbone& backbone, const at::Tensor& images, const EncodeOptions& options) {
  CPL_CHECK(options.parts >= 1, "accumulate must be at least 1, got ", options.parts);
  if (options.parts == 1 || !at::GradMode::is_enabled())
    return encode_whole(backbone, images, options.bf16);
  const at::Tensor trigger = at::empty({0}, images.options()).requires_grad_();
  return EncodeInParts::apply(images, trigger, reinterpret_cast<std::int64_t>(&backbone),
                              options.parts, options.bf16);
}

}  // namespace cpl
