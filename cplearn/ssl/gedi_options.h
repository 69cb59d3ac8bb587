#pragma once
// The settings of GEDI, with and without its generative term, and its row in the table of methods;
// gedi.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

// Of both.
struct GediNogenOptions {
  static constexpr MethodRow kRow{
      "gedi_nogen", "CPLearn's loss with a trained projector (Sansone, Manhaeve, 2024)",
      "beta = 0.5\ncodes = 64\nhidden = 2048\nprior = \"reverse\"\n"};
  friend std::shared_ptr<Method> make_method(const GediNogenOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  double temperature = 0.1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("gedi-temperature", temperature, "temperature of the logits (also gedi_nogen)",
      Between{1e-4, 1e4});
  }
};

struct LangevinOptions {
  std::int64_t steps = 20;
  double step_size = 1;
  double noise = 0.01;
};

struct GediOptions {
  // The generative term is unstable at higher learning rates.
  static constexpr MethodRow kRow{
      "gedi", "the same with an energy-based model of the images (Sansone, Manhaeve, 2024)",
      "beta = 0.5\ncodes = 64\nhidden = 2048\nlr = 0.0001\nprior = \"reverse\"\n"};
  friend std::shared_ptr<Method> make_method(const GediOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  double weight = 1;
  LangevinOptions langevin;
  std::int64_t buffer = 1000;
  double restart = 0.05;
  double noise = 0.03;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("gedi-weight", weight, "weight of the generative term", AtLeast{0});
    v("gedi-steps", langevin.steps, "steps of Langevin dynamics per training step", AtLeast{1});
    v("gedi-step-size", langevin.step_size, "what multiplies the slope in a step", AtLeast{0});
    v("gedi-step-noise", langevin.noise, "standard deviation of the noise in a step", AtLeast{0});
    v("gedi-buffer", buffer, "samples kept from step to step, at least a batch", AtLeast{1});
    v("gedi-restart", restart, "chance that a sample starts from noise instead", Between{0, 1});
    v("gedi-noise", noise, "standard deviation of noise on images in this term", AtLeast{0});
  }
};

}  // namespace cpl
