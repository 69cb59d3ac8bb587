#include "cplearn/train/data_defaults.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cplearn/data/image.h"

namespace cpl {
namespace {

constexpr std::size_t kSample = 48;  // images looked at

// The side of the views for images of this side. Thumbnails keep their pixels; photographs become
// as large as a few cores can train on in minutes (docs/results.md has what was tried).
int view_side(int side) {
  if (side <= 40) return 32;
  if (side <= 80) return 48;
  return 64;
}

// A code for every two to four images, so that there is something to share: a power of two.
std::int64_t suitable_codes(std::int64_t images) {
  std::int64_t codes = 64;
  while (codes < 4096 && 4 * codes <= images) codes *= 2;
  return codes;
}

}  // namespace

DataLook look_at(const Dataset& data) {
  DataLook look;
  look.images = static_cast<std::int64_t>(data.size());
  const std::size_t count = std::min(kSample, data.size());
  std::vector<int> sides;
  Image image;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      data.load(i * data.size() / count, image);
    } catch (const BadImage&) {
      continue;
    }
    sides.push_back(std::min(image.width, image.height));
  }
  if (sides.empty()) return look;
  std::nth_element(sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(sides.size() / 2),
                   sides.end());
  look.side = sides[sides.size() / 2];
  return look;
}

void suit_data(const DataLook& look, const std::set<std::string>& written, TrainOptions& options) {
  const auto open = [&](const char* name) { return written.count(name) == 0; };
  if (open("image-size") && look.side > 0) options.augment.image_size = view_side(look.side);
  // Shifts of a few pixels, which suit thumbnails, say little about photographs.
  if (open("augment") && options.augment.image_size > 32 && options.backbone == "resnet8")
    options.augment.recipe = "asymmetric";
  if (open("width")) options.backbone_options.width = 128;
  if (open("stem"))
    options.backbone_options.stem = options.augment.image_size <= 32 ? "cifar" : "imagenet";
  if (open("codes")) options.method_options.head.codes = suitable_codes(look.images);
  if (!find_backbone(options.backbone).transformer) return;
  // A transformer's attention diverges at the rate that suits convolutions.
  if (open("optimizer")) options.optimizer.name = "adamw";
  if (open("lr")) options.lr = 5e-4;
  if (open("weight-decay")) options.optimizer.weight_decay = 0.05;
  if (open("patch-size"))
    options.backbone_options.patch_size = std::max<std::int64_t>(4, options.augment.image_size / 8);
}

std::string describe(const TrainOptions& options) {
  const bool resnet = options.backbone == "resnet18" || options.backbone == "resnet50";
  const int side = resolve_image_size(options);
  return str(options.backbone,
             resnet                          ? str(" (", options.backbone_options.stem, " stem)")
             : options.backbone == "resnet8" ? str(" (", options.backbone_options.width, " wide)")
                                             : "",
             ", views of ", side, " x ", side, " by recipe ", resolve_recipe(options), ", ",
             options.method_options.head.codes, " codes, batch ", options.batch);
}

std::int64_t epochs_in(double minutes, double images_per_second, std::int64_t images) {
  const double epochs = 60 * minutes * images_per_second / static_cast<double>(images);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(epochs)));
}

}  // namespace cpl
