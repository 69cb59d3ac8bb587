#pragma once
// The settings of encoders and their names, without torch.

#include <cstdint>
#include <string>
#include <vector>

namespace cpl {

// Each backbone reads the settings that concern it; the table says which.
struct BackboneOptions {
  std::int64_t width = 128;       // resnet8: channels of every layer
  bool final_activation = false;  // resnet8: LeakyReLU before the global mean (not in the paper)
  bool plain = false;             // only libtorch's operations: to compare, for second derivatives
  std::string stem = "cifar";     // resnet18/50: "cifar" (3x3, stride 1, no pooling) or "imagenet"
  std::int64_t stem_padding = 1;  // resnet18/50, cifar stem: 1, or 2 as in the authors' code
  std::int64_t image_size = 224;  // vit: side of the training images, fixes the position table
  std::int64_t patch_size = 16;   // vit: side of a patch
  double drop_path = 0.1;         // vit: chance of the last block's branches to be left out
};

struct BackboneRow {
  const char* name;
  const char* help;
  bool transformer;
};

const std::vector<BackboneRow>& backbones();

// Throws cpl::Error, listing the names.
const BackboneRow& find_backbone(const std::string& name);

}  // namespace cpl
