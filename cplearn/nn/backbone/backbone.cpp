#include "cplearn/nn/backbone/backbone.h"

#include <map>

#include "cplearn/nn/backbone/resnet.h"
#include "cplearn/nn/backbone/resnet8.h"
#include "cplearn/nn/backbone/vit.h"

namespace cpl {

std::shared_ptr<Backbone> make_backbone(const std::string& name, const BackboneOptions& options) {
  static const std::map<std::string, std::shared_ptr<Backbone> (*)(const BackboneOptions&)> makers =
      {{"resnet8", make_resnet8},
       {"resnet18", make_resnet18},
       {"resnet50", make_resnet50},
       {"vit_tiny", make_vit_tiny},
       {"vit_small", make_vit_small}};
  return makers.at(find_backbone(name).name)(options);
}

}  // namespace cpl
