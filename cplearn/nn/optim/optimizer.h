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

#include "cplearn/nn/optim/optimizer_options.h"
#include "cplearn/nn/state.h"

namespace cpl {

struct OptimizerUpdate;

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
  const OptimizerUpdate* update_;
  std::vector<Slice> slices_;
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<torch::Tensor> buffers_;  // one per name in row_->buffers
  std::int64_t steps_ = 0;
};

}  // namespace cpl
