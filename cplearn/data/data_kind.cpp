#include "cplearn/data/data_kind.h"

namespace cpl {

const std::vector<DataKind>& data_kinds() {
  static const std::vector<DataKind> table = {
      {"shapes", "shapes[:N]", "built-in drawings, 32x32, ten labelled classes", {"train", "test"}},
      {"cifar10", "cifar10:DIR", "CIFAR-10, the official binary files", {"train", "test"}},
      {"cifar100", "cifar100:DIR", "CIFAR-100, the official binary files", {"train", "test"}},
      {"svhn", "svhn:DIR", "SVHN cropped digits, the .mat files", {"train", "test", "extra"}},
      {"folder",
       "folder:DIR or just DIR",
       "pictures of any size, recursively; sub-folders are classes",
       {"train", "test"}},
      {"imagenet100",
       "imagenet100:DIR[,LIST]",
       "ImageNet layout; the classes listed in a text file, or all",
       {"train", "test"}},
  };
  return table;
}

const DataKind* find_data_kind(const std::string& name) {
  for (const DataKind& kind : data_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace cpl
