#include "cplearn/data/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cplearn/data/blur.h"
#include "cplearn/data/colour.h"

namespace cpl {

Box random_resized_box(int width, int height, const ViewOptions& view, Random& random) {
  const double area = static_cast<double>(width) * height;
  const float log_min = std::log(view.ratio_min);
  const float log_max = std::log(view.ratio_max);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(view.scale_min, view.scale_max);
    const double ratio = std::exp(random.uniform(log_min, log_max));
    const int w = static_cast<int>(std::nearbyint(std::sqrt(target * ratio)));
    const int h = static_cast<int>(std::nearbyint(std::sqrt(target / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const int top = static_cast<int>(random.below(static_cast<std::uint32_t>(height - h + 1)));
    const int left = static_cast<int>(random.below(static_cast<std::uint32_t>(width - w + 1)));
    return {left, top, w, h};
  }
  int w = width;
  int h = height;
  const double ratio = static_cast<double>(width) / height;
  if (ratio < view.ratio_min) {
    h = std::min(height, static_cast<int>(std::nearbyint(w / view.ratio_min)));
  } else if (ratio > view.ratio_max) {
    w = std::min(width, static_cast<int>(std::nearbyint(h * view.ratio_max)));
  }
  return {(width - w) / 2, (height - h) / 2, w, h};
}

void colour_jitter(Image& image, const ViewOptions& view, Random& random) {
  std::array<int, 4> order = {0, 1, 2, 3};
  for (std::uint32_t i = 3; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  const auto factor = [&](float strength) {
    return random.uniform(std::max(0.0f, 1.0f - strength), 1.0f + strength);
  };
  for (const int operation : order) {
    if (operation == 0 && view.brightness > 0) adjust_brightness(image, factor(view.brightness));
    if (operation == 1 && view.contrast > 0) adjust_contrast(image, factor(view.contrast));
    if (operation == 2 && view.saturation > 0) adjust_saturation(image, factor(view.saturation));
    if (operation == 3 && view.hue > 0) adjust_hue(image, random.uniform(-view.hue, view.hue));
  }
}

Augmenter::Augmenter(const AugmentOptions& options, std::uint64_t seed, Layout layout)
    : options_(options), seed_(seed), layout_(layout), writer_(options.normalisation) {
  check(options);
}

const Image& Augmenter::fit(const Image& image, int side, Filter filter) {
  if (std::min(image.width, image.height) == side) return image;
  const Size size = shorter_side_to(side, image.width, image.height);
  const Box all{0, 0, image.width, image.height};
  resizer_.resize(image, all, size.width, size.height, filter, fitted_);
  return fitted_;
}

Box Augmenter::place(const Image& image, const ViewOptions& view, Random& random) {
  const Box whole{0, 0, view.size, view.size};
  switch (view.crop) {
    case Crop::kResized: {
      const Box box = random_resized_box(image.width, image.height, view, random);
      resizer_.resize(image, box, view.size, view.size, view.filter, work_);
      return whole;
    }
    case Crop::kPadded: {
      pad_reflect(fit(image, view.size, view.filter), view.pad, work_);
      const auto rows = static_cast<std::uint32_t>(work_.height - view.size + 1);
      const auto columns = static_cast<std::uint32_t>(work_.width - view.size + 1);
      const int top = static_cast<int>(random.below(rows));
      const int left = static_cast<int>(random.below(columns));
      return {left, top, view.size, view.size};
    }
    case Crop::kCentre:
      break;
  }
  const Image& fitted = fit(image, view.resize, view.filter);
  crop(fitted, centre_box(view.size, fitted.width, fitted.height), work_);
  return whole;
}

void Augmenter::make(const Image& image, std::uint64_t index, std::uint32_t epoch, int view,
                     float* out) {
  const ViewOptions& o = options_.views[std::size_t(view)];
  const auto views = static_cast<std::uint32_t>(options_.views.size());
  Random random(seed_, Stream::kAugment, index, epoch * views + static_cast<std::uint32_t>(view));
  const Box box = place(image, o, random);
  if (random.chance(o.jitter_p)) colour_jitter(work_, o, random);
  if (random.chance(o.gray_p)) to_gray(work_);
  if (random.chance(o.blur_p)) {
    gaussian_blur(work_, random.uniform(o.blur_sigma_min, o.blur_sigma_max), scratch_);
  }
  if (random.chance(o.solarise_p)) solarise(work_, o.solarise_threshold);
  const bool flip = random.chance(o.flip_p);
  writer_.write(work_, box, flip, o.noise, random, layout_, out);
}

}  // namespace cpl
