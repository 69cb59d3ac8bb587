#pragma once
// Pillow's ImageFilter.GaussianBlur, which DINO and solo-learn use: three box blurs of fractional
// radius in each direction, edges repeated, 24-bit fixed point, equal to Pillow to the last bit.
// torchvision's own GaussianBlur (a true kernel of a fixed size) is another operation.

#include "cplearn/data/image.h"

namespace cpl {

// `sigma` in pixels; `scratch` is working memory.
void gaussian_blur(Image& image, float sigma, Image& scratch);

}  // namespace cpl
