#pragma once
// ResNet-18 and ResNet-50 as torchvision defines them, without the classifier.
// He et al., "Deep residual learning for image recognition", CVPR 2016.
// Parameters and buffers carry torchvision's names, so that weights pass both ways unchanged.

#include "cplearn/nn/backbone/backbone.h"

namespace cpl {

std::shared_ptr<Backbone> make_resnet18(const BackboneOptions& options);
std::shared_ptr<Backbone> make_resnet50(const BackboneOptions& options);

}  // namespace cpl
