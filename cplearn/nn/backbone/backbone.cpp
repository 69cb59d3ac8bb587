#include "cplearn/nn/backbone/backbone.h"

#include "cplearn/base/error.h"
#include "cplearn/nn/backbone/resnet.h"
#include "cplearn/nn/backbone/resnet8.h"
#include "cplearn/nn/backbone/vit.h"

namespace cpl {

const std::vector<BackboneRow>& backbones() {
  static const std::vector<BackboneRow> table = {
      {"resnet8", "the paper's small network for 32x32 images, without batch norm (width)",
       make_resnet8},
      {"resnet18",
       "torchvision's ResNet-18 without its classifier, 512 features (stem, stem_padding)",
       make_resnet18},
      {"resnet50",
       "torchvision's ResNet-50 without its classifier, 2048 features (stem, stem_padding)",
       make_resnet50},
      {"vit_tiny", "vision transformer, 192 wide, 12 blocks (image_size, patch_size, drop_path)",
       make_vit_tiny},
      {"vit_small", "vision transformer, 384 wide, 12 blocks (image_size, patch_size, drop_path)",
       make_vit_small},
  };
  return table;
}

std::shared_ptr<Backbone> make_backbone(const std::string& name, const BackboneOptions& options) {
  std::string known;
  for (const BackboneRow& row : backbones()) {
    if (row.name == name) return row.make(options);
    known += str(known.empty() ? "" : ", ", row.name);
  }
  throw Error(str("there is no backbone ", name, ": choose one of ", known));
}

}  // namespace cpl
