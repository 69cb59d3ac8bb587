#pragma once
// What is done to a picture before the network sees it: every strength, and the defaults of each
// published recipe in one place (recipe.cpp).

#include <string>
#include <vector>

#include "cplearn/data/geometry.h"
#include "cplearn/data/normalise.h"

namespace cpl {

enum class Crop {
  kCentre,   // shorter side to `resize`, centre crop of `size`
  kPadded,   // shorter side to `size` unless it is, reflect `pad` pixels, random crop of `size`
  kResized,  // a random part of area scale_min..scale_max and any of the ratios, resized to `size`
};

// How one view is made. Steps happen in the order of the members, except that a padded view is cut
// out after its colours are changed (as the paper's ResNet-8 recipe does). p: probability.
struct ViewOptions {
  int size = 32;
  Crop crop = Crop::kCentre;
  int resize = 32;
  int pad = 4;
  float scale_min = 0.08f;
  float scale_max = 1.0f;
  float ratio_min = 3.0f / 4;
  float ratio_max = 4.0f / 3;
  Filter filter = Filter::kBicubic;

  float jitter_p = 0;  // the four below, in random order
  float brightness = 0.4f;
  float contrast = 0.4f;
  float saturation = 0.4f;
  float hue = 0.1f;
  float gray_p = 0;
  float blur_p = 0;
  float blur_sigma_min = 0.1f;
  float blur_sigma_max = 2.0f;
  float solarise_p = 0;
  int solarise_threshold = 128;
  float flip_p = 0;
  float noise = 0;  // standard deviation, after normalising
};

struct AugmentOptions {
  std::vector<ViewOptions> views;  // one entry per view of an image
  Normalisation normalisation;
};

struct Recipe {
  std::string name;
  std::string help;
};

// none, resnet8, asymmetric, symmetric, dino.
const std::vector<Recipe>& recipes();

struct RecipeOptions {
  std::string statistics = "imagenet";  // Dataset::statistics(): chooses the normalisation
  int size = 0;                         // of the (global) views in pixels; 0: the recipe's own
  int views = 2;                        // full-size views
  int local_views = 8;                  // dino only
};

// A recipe's defaults, to be changed at will. An unknown name is an error that lists the
// candidates.
AugmentOptions make_recipe(const std::string& name, const RecipeOptions& options);

// For evaluation: one view, resized and cut out of the centre, normalised, nothing random. From 96
// pixels on the picture is first made 256/224 larger than the crop, as is customary on ImageNet.
AugmentOptions evaluation_views(int size, const Normalisation& normalisation);

// Throws an error that names the first member out of range.
void check(const AugmentOptions& options);

// The shorter side below which decoding a picture would lose detail that some view shows: the
// `min_side` to decode with.
int decode_side(const AugmentOptions& options);

}  // namespace cpl
