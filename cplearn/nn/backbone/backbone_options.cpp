#include "cplearn/nn/backbone/backbone_options.h"

#include "cplearn/base/options.h"

namespace cpl {

const std::vector<BackboneRow>& backbones() {
  static const std::vector<BackboneRow> table = {
      {"resnet8", "the paper's small network for 32x32 images, without batch norm (width)", false},
      {"resnet18",
       "torchvision's ResNet-18 without its classifier, 512 features (stem, stem_padding)", false},
      {"resnet50",
       "torchvision's ResNet-50 without its classifier, 2048 features (stem, stem_padding)", false},
      {"vit_tiny", "vision transformer, 192 wide, 12 blocks (image_size, patch_size, drop_path)",
       true},
      {"vit_small", "vision transformer, 384 wide, 12 blocks (image_size, patch_size, drop_path)",
       true},
  };
  return table;
}

const BackboneRow& find_backbone(const std::string& name) {
  return find_row(backbones(), "backbone", name);
}

}  // namespace cpl
