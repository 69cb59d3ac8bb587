#include "cplearn/train/options.h"

#include <algorithm>
#include <cmath>

#include "cplearn/base/processor.h"
#include "cplearn/base/version.h"

namespace cpl {
namespace {

bool is_vit(const TrainOptions& options) { return find_backbone(options.backbone).transformer; }

}  // namespace

int resolve_image_size(const TrainOptions& options) {
  if (options.augment.image_size > 0) return static_cast<int>(options.augment.image_size);
  const bool large = is_vit(options) ||
                     (options.backbone != "resnet8" && options.backbone_options.stem == "imagenet");
  return large ? 224 : 32;
}

BackboneOptions resolve_backbone(const TrainOptions& options) {
  BackboneOptions result = options.backbone_options;
  result.image_size = resolve_image_size(options);
  return result;
}

// Each backbone's as in the paper.
std::string resolve_recipe(const TrainOptions& options) {
  if (options.augment.recipe != "auto") return options.augment.recipe;
  return is_vit(options) ? "dino" : options.backbone == "resnet8" ? "resnet8" : "asymmetric";
}

AugmentOptions resolve_augment(const TrainOptions& options, const std::string& statistics) {
  const AugmentSettings& s = options.augment;
  RecipeOptions wanted;
  wanted.statistics = statistics;
  wanted.size = resolve_image_size(options);
  wanted.views = static_cast<int>(s.views);
  wanted.local_views = static_cast<int>(s.local_views);
  AugmentOptions result = make_recipe(resolve_recipe(options), wanted);
  for (ViewOptions& view : result.views) {
    const std::pair<double, float*> changes[] = {{s.crop_min, &view.scale_min},
                                                 {s.crop_max, &view.scale_max},
                                                 {s.jitter, &view.jitter_p},
                                                 {s.brightness, &view.brightness},
                                                 {s.contrast, &view.contrast},
                                                 {s.saturation, &view.saturation},
                                                 {s.hue, &view.hue},
                                                 {s.gray, &view.gray_p},
                                                 {s.blur, &view.blur_p},
                                                 {s.solarise, &view.solarise_p},
                                                 {s.flip, &view.flip_p},
                                                 {s.noise, &view.noise}};
    for (const auto& [value, member] : changes) {
      if (value >= 0) *member = static_cast<float>(value);
    }
  }
  check(result);
  return result;
}

MethodOptions resolve_method(const TrainOptions& options) {
  MethodOptions result = options.method_options;
  result.head.batch = options.batch;
  result.head.seed = options.seed;
  result.image_size = resolve_image_size(options);
  return result;
}

Schedule resolve_schedule(const TrainOptions& options, std::int64_t steps_per_epoch) {
  const auto steps = [&](double epochs) {
    return static_cast<std::int64_t>(std::llround(epochs * static_cast<double>(steps_per_epoch)));
  };
  Schedule schedule;
  schedule.name = options.schedule;
  schedule.base = options.lr;
  schedule.total = options.epochs * steps_per_epoch;
  // A run of one or two epochs must not spend them on warming up.
  schedule.warmup = std::min(steps(options.warmup), schedule.total / 4);
  schedule.warmup_start = std::min(schedule.warmup_start, options.lr);
  schedule.final = options.final_lr;
  schedule.step_every = std::max<std::int64_t>(1, steps(options.step_every));
  schedule.step_factor = options.step_factor;
  check_schedule(schedule);
  return schedule;
}

bool resolve_bf16(const TrainOptions& options) {
  const bool winograd = !is_vit(options);
  // Without oneDNN libtorch emulates bf16, whatever the processor can do.
  if (options.precision == Precision::kAuto) return torch_has_onednn() && bf16_is_faster(winograd);
  return options.precision == Precision::kBf16;
}

}  // namespace cpl
