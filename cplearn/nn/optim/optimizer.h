#pragma once
// Adam, AdamW, SGD and LARS over flat memory.
//
// The parameters of a network are moved into one contiguous buffer, and so are their gradients: a
// step is one pass, the norm of the gradient one sum, and an exchange between workers one message.
// The results equal torch.optim's.

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/nn/state.h"

namespace cpl {

struct OptimizerOptions {
  std::string name = "adam";
  double weight_decay = 0;  // adam, sgd, lars: added to the gradient (L2); adamw: decoupled
  bool decay_all = true;    // false: not for biases, norms and other 1-D parameters
  double beta1 = 0.9;       // adam, adamw
  double beta2 = 0.999;     // adam, adamw
  double epsilon = 1e-8;    // adam, adamw
  double momentum = 0.9;    // sgd, lars
  bool nesterov = false;    // sgd
  double trust = 0.02;      // lars: eta
  bool lars_clip = true;    // lars: never larger steps than without it
};

// The update of one parameter p with gradient g and the state buffers a and b (of those with one
// buffer, b is a). Twice: fast, for floats on a CPU, and as tensor operations, for every device and
// type.
struct OptimizerStep;
using FastUpdate = void (*)(const OptimizerOptions& options, const OptimizerStep& step, float* p,
                            const float* g, float* a, float* b, std::int64_t size);
using TensorUpdate = void (*)(const OptimizerOptions& options, const OptimizerStep& step,
                              const torch::Tensor& p, const torch::Tensor& g,
                              const torch::Tensor& a, const torch::Tensor& b);

struct OptimizerRow {
  const char* name;
  const char* help;
  std::vector<std::string> buffers;  // of the state, one or two, with torch.optim's names
  FastUpdate fast;
  TensorUpdate tensors;
};

const std::vector<OptimizerRow>& optimizers();

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;

class Optimizer {
 public:
  // Moves the parameters (one device, float or double) into flat memory: do this after the network
  // has got its device and type, and do not convert it afterwards. Frozen parameters are left out.
  // Throws cpl::Error.
  Optimizer(const NamedParameters& parameters, const OptimizerOptions& options);
  Optimizer(const torch::nn::Module& module, const OptimizerOptions& options);

  void zero_grad();
  void step(double learning_rate);

  // All gradients, one after another; average this between workers.
  torch::Tensor gradients();

  // Scales the gradients down to this norm if they are longer. Returns the norm before.
  double clip_gradients(double max_norm);

  void set_weight_decay(double weight_decay) { options_.weight_decay = weight_decay; }
  std::int64_t steps() const { return steps_; }

  // Everything a resumed run needs: "step", and "BUFFER.PARAMETER" for each buffer.
  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  // A parameter's place in the flat buffers.
  struct Slice {
    std::string name;
    torch::Tensor parameter;
    std::int64_t begin, size;
  };

  torch::Tensor part(const torch::Tensor& flat, const Slice& slice) const;
  void attach_gradients();

  OptimizerOptions options_;
  const OptimizerRow* row_;
  std::vector<Slice> slices_;
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<torch::Tensor> buffers_;  // one per name in row_->buffers
  std::int64_t steps_ = 0;
};

}  // namespace cpl
