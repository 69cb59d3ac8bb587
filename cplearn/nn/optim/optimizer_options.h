#pragma once
// The settings of optimisers and their names, without torch.

#include <string>
#include <vector>

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

struct OptimizerRow {
  const char* name;
  const char* help;
  std::vector<std::string> buffers;  // of the state, one or two, with torch.optim's names
};

const std::vector<OptimizerRow>& optimizers();

}  // namespace cpl
