#pragma once
// Changing colours in place, by the definitions of torchvision 0.14 on PIL pictures (8-bit, each
// step rounded as Pillow rounds), to the last bit.

#include <cstdint>

#include "cplearn/data/image.h"

namespace cpl {

// 0: black, 1: unchanged.
void adjust_brightness(Image& image, float factor);

// 0: the picture's mean grey everywhere, 1: unchanged.
void adjust_contrast(Image& image, float factor);

// 0: grey, 1: unchanged.
void adjust_saturation(Image& image, float factor);

// Turns the colour wheel by `turn` of a full circle, -0.5 to 0.5, in 8-bit HSV as PIL has it.
void adjust_hue(Image& image, float turn);

// Luma in all three channels.
void to_gray(Image& image);

// Inverts what is at least `threshold`.
void solarise(Image& image, int threshold);

}  // namespace cpl
