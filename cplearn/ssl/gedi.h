#pragma once
// GEDI: CPLearn's loss behind an ordinary trained projector (an MLP to c logits), and an
// energy-based model of the images themselves, whose energy is -logsumexp of the same logits:
//
//   loss = beta * invariance + prior + weight * (mean over samples - mean over images of
//   logsumexp(logits))
//
// Samples come from Langevin dynamics started in a replay buffer, as in JEM. `gedi_nogen` leaves
// this term out.
//
// Sansone, Manhaeve, "Learning Symbolic Representations Through Joint GEnerative and DIscriminative
// Training"; Grathwohl et al., "Your Classifier is Secretly an Energy Based Model", ICLR 2020.

#include <functional>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

// Of both.
struct GediNogenOptions {
  double temperature = 0.1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("gedi-temperature", temperature, "of the logits (also gedi_nogen)", Between{1e-4, 1e4});
  }
};

struct LangevinOptions {
  std::int64_t steps = 20;
  double step_size = 1;
  double noise = 0.01;
};

struct GediOptions {
  double weight = 1;
  LangevinOptions langevin;
  std::int64_t buffer = 1000;
  double restart = 0.05;
  double noise = 0.03;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("gedi-weight", weight, "of the generative term", AtLeast{0});
    v("gedi-steps", langevin.steps, "of Langevin dynamics per training step", AtLeast{1});
    v("gedi-step-size", langevin.step_size, "what multiplies the slope in a step", AtLeast{0});
    v("gedi-step-noise", langevin.noise, "standard deviation of the noise in a step", AtLeast{0});
    v("gedi-buffer", buffer, "samples kept from step to step, at least a batch", AtLeast{1});
    v("gedi-restart", restart, "chance that a sample starts from noise instead", Between{0, 1});
    v("gedi-noise", noise, "standard deviation of noise on images in this term", AtLeast{0});
  }
};

// x - step_size * dE/dx + noise, again and again. energy: images n x ... to n energies.
at::Tensor langevin(const std::function<at::Tensor(const at::Tensor&)>& energy, const at::Tensor& x,
                    const LangevinOptions& options);

extern const MethodRow kGediNogen;
extern const MethodRow kGedi;

}  // namespace cpl
