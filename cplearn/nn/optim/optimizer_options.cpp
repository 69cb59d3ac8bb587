#include "cplearn/nn/optim/optimizer_options.h"

namespace cpl {

const std::vector<OptimizerRow>& optimizers() {
  static const std::vector<OptimizerRow> table = {
      {"adam", "Adam; weight decay is added to the gradient (L2)", {"exp_avg", "exp_avg_sq"}},
      {"adamw", "Adam with decoupled weight decay", {"exp_avg", "exp_avg_sq"}},
      {"sgd", "momentum, with nesterov if asked for", {"momentum_buffer"}},
      {"lars", "SGD with a rate per layer, for large batches", {"momentum_buffer"}},
  };
  return table;
}

}  // namespace cpl
