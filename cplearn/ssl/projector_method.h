#pragma once
// Methods whose loss is a function of embeddings and needs nothing else: a projector of three
// layers, and the loss, of all views at once or of two of them.

#include <functional>

#include "cplearn/ssl/method.h"

namespace cpl {

// What such a loss is a function of.
struct EmbeddedViews {
  const std::vector<at::Tensor>& h;  // of each view, n x --hidden
  const Views& views;
  const Position& position;
  WorkerGroup& workers;
};

using ViewsLoss = std::function<StepResult(const EmbeddedViews& embedded)>;
using PairLoss =
    std::function<NamedLoss(const at::Tensor& h0, const at::Tensor& h1, WorkerGroup& workers)>;

// The mean of a loss over the pairs of views.
ViewsLoss over_pairs(PairLoss loss);

// `last_bias`: whether the projector's last layer has a bias. A loss that takes the mean of the
// embeddings away would not feel it.
std::shared_ptr<Method> make_projector_method(const BackboneMaker& make_backbone,
                                              const MethodOptions& options, bool last_bias,
                                              ViewsLoss loss);

}  // namespace cpl
