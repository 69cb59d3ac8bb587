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

#include "cplearn/ssl/gedi_options.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// x - step_size * dE/dx + noise, again and again. energy: images n x ... to n energies.
at::Tensor langevin(const std::function<at::Tensor(const at::Tensor&)>& energy, const at::Tensor& x,
                    const LangevinOptions& options);

}  // namespace cpl
