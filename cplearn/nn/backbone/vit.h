#pragma once
// Vision transformers with the names, the initialisation and the forward pass of timm and DINO.
// Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021; Caron et al., ICCV 2021 (DINO).

#include "cplearn/nn/backbone/backbone.h"

namespace cpl {

std::shared_ptr<Backbone> make_vit_tiny(const BackboneOptions& options);
std::shared_ptr<Backbone> make_vit_small(const BackboneOptions& options);

}  // namespace cpl
