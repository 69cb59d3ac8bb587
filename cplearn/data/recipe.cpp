#include "cplearn/data/recipe.h"

#include <algorithm>
#include <cmath>

namespace cpl {
namespace {

// Appendix of the paper (ResNet-8): reflect-pad 4, jitter, gray, crop, flip, noise 0.03. Mirrored
// digits are other digits, so SVHN is not flipped.
ViewOptions resnet8_view(const std::string& statistics) {
  ViewOptions view;
  view.size = 32;
  view.crop = Crop::kPadded;
  view.pad = 4;
  view.jitter_p = 0.1f;
  view.brightness = view.contrast = view.saturation = 0.4f;
  view.hue = 0.1f;
  view.gray_p = 0.1f;
  view.flip_p = statistics == "svhn" ? 0.0f : 0.5f;
  view.noise = 0.03f;
  return view;
}

// solo-learn's CIFAR "asymmetric", which the paper's ResNet-18 runs use.
ViewOptions asymmetric_view(int index) {
  ViewOptions view;
  view.size = 32;
  view.crop = Crop::kResized;
  view.jitter_p = 0.8f;
  view.brightness = view.contrast = 0.4f;
  view.saturation = 0.2f;
  view.hue = 0.1f;
  view.gray_p = 0.2f;
  view.solarise_p = index == 1 ? 0.2f : 0.0f;
  view.flip_p = 0.5f;
  return view;
}

// solo-learn's CIFAR "symmetric": stronger colours and blur, the same for every view.
ViewOptions symmetric_view() {
  ViewOptions view = asymmetric_view(0);
  view.brightness = view.contrast = view.saturation = 0.8f;
  view.hue = 0.2f;
  view.blur_p = 0.5f;
  return view;
}

// DINO's: index 0 and 1 are the two kinds of global view, 2 a local one.
ViewOptions dino_view(int index) {
  ViewOptions view = asymmetric_view(index);
  const bool local = index == 2;
  view.size = local ? 96 : 224;
  view.scale_min = local ? 0.05f : 0.4f;
  view.scale_max = local ? 0.4f : 1.0f;
  view.blur_p = local ? 0.5f : index == 0 ? 1.0f : 0.1f;
  return view;
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> table = {
      {"none", "the picture itself, resized and cut out of the centre"},
      {"resnet8", "the paper's for ResNet-8: shifts, flips, rare colour changes, noise"},
      {"asymmetric", "the paper's for ResNet-18: random resized crops, colours; solarised view 2"},
      {"symmetric", "as SimCLR: stronger colours and blur, the same for all views"},
      {"dino", "multi-crop for ViT: 2 global views and several small local ones"},
  };
  return table;
}

AugmentOptions make_recipe(const std::string& name, const RecipeOptions& options) {
  AugmentOptions made;
  std::string statistics = options.statistics;
  for (int i = 0; i < options.views; ++i) {
    if (name == "none") {
      made.views.push_back(ViewOptions());
    } else if (name == "resnet8") {
      made.views.push_back(resnet8_view(options.statistics));
    } else if (name == "asymmetric") {
      made.views.push_back(asymmetric_view(i));
    } else if (name == "symmetric") {
      made.views.push_back(symmetric_view());
    } else if (name == "dino") {
      made.views.push_back(dino_view(std::min(i, 1)));
    }
  }
  if (made.views.empty()) {
    CPL_CHECK(options.views >= 1, "views must be at least 1, got ", options.views);
    std::string candidates;
    for (const Recipe& row : recipes()) candidates += (candidates.empty() ? "" : ", ") + row.name;
    throw Error(str("unknown augmentation '", name, "'; there are ", candidates));
  }
  for (ViewOptions& view : made.views) {
    if (options.size > 0) view.size = options.size;
    view.resize = view.size;
  }
  if (name == "dino") {
    ViewOptions local = dino_view(2);
    // The original's proportion 96 : 224, in whole multiples of 8.
    if (options.size > 0) local.size = std::max(8, (options.size * 96 / 224 + 4) / 8 * 8);
    local.resize = local.size;
    made.views.insert(made.views.end(), std::size_t(std::max(options.local_views, 0)), local);
  }
  if (name == "resnet8") {
    const std::string paper = statistics + "-paper";
    for (const Normalisation& row : normalisations()) {
      if (row.name == paper) statistics = paper;
    }
  }
  made.normalisation = find_normalisation(statistics);
  return made;
}

AugmentOptions evaluation_views(int size, const Normalisation& normalisation) {
  ViewOptions view;
  view.size = size;
  view.resize = size >= 96 ? size * 256 / 224 : size;
  return {{view}, normalisation};
}

void check(const AugmentOptions& options) {
  CPL_CHECK(!options.views.empty(), "augmentation needs at least one view");
  const auto in_range = [](const char* name, float value, float low, float high) {
    CPL_CHECK(value >= low && value <= high, "augmentation: ", name, " is ", value,
              ", expected between ", low, " and ", high);
  };
  for (const ViewOptions& view : options.views) {
    in_range("size", float(view.size), 1, 8192);
    if (view.crop == Crop::kCentre) in_range("resize", float(view.resize), float(view.size), 16384);
    if (view.crop == Crop::kPadded) in_range("pad", float(view.pad), 0, float(view.size - 1));
    in_range("scale_max", view.scale_max, 1e-4f, 1);
    in_range("scale_min", view.scale_min, 1e-4f, view.scale_max);
    in_range("ratio_max", view.ratio_max, 0.01f, 100);
    in_range("ratio_min", view.ratio_min, 0.01f, view.ratio_max);
    in_range("jitter_p", view.jitter_p, 0, 1);
    in_range("brightness", view.brightness, 0, 10);
    in_range("contrast", view.contrast, 0, 10);
    in_range("saturation", view.saturation, 0, 10);
    in_range("hue", view.hue, 0, 0.5f);
    in_range("gray_p", view.gray_p, 0, 1);
    in_range("blur_p", view.blur_p, 0, 1);
    in_range("blur_sigma_max", view.blur_sigma_max, 0, 100);
    in_range("blur_sigma_min", view.blur_sigma_min, 0, view.blur_sigma_max);
    in_range("solarise_p", view.solarise_p, 0, 1);
    in_range("solarise_threshold", float(view.solarise_threshold), 0, 256);
    in_range("flip_p", view.flip_p, 0, 1);
    in_range("noise", view.noise, 0, 100);
  }
  for (const float std : options.normalisation.std) {
    in_range("normalisation std", std, 1e-6f, 1e6f);
  }
}

int decode_side(const AugmentOptions& options) {
  int side = 1;
  for (const ViewOptions& view : options.views) {
    const int wanted =
        view.crop == Crop::kCentre ? view.resize
        : view.crop == Crop::kPadded
            ? view.size
            : static_cast<int>(std::ceil(float(view.size) / std::sqrt(view.scale_min)));
    side = std::max(side, wanted);
  }
  return side;
}

}  // namespace cpl
