#include "cplearn/data/open_source.h"

#include <filesystem>
#include <map>

#include "cplearn/base/error.h"
#include "cplearn/data/cifar.h"
#include "cplearn/data/folder.h"
#include "cplearn/data/shapes.h"
#include "cplearn/data/svhn.h"

namespace cpl {
namespace {

using Opened = std::unique_ptr<Source>;

std::string split_or_train(const DataSpec& spec) {
  return spec.split.empty() ? "train" : spec.split;
}

Opened shapes(const DataSpec& spec, const DecodeOptions&) {
  const std::string split = split_or_train(spec);
  const std::size_t count = spec.where.empty() ? 0 : std::stoull(spec.where);
  return std::make_unique<ShapesSource>(count, split);
}

Opened cifar10(const DataSpec& spec, const DecodeOptions&) {
  return open_cifar10(spec.where, split_or_train(spec));
}

Opened cifar100(const DataSpec& spec, const DecodeOptions&) {
  return open_cifar100(spec.where, split_or_train(spec));
}

Opened svhn(const DataSpec& spec, const DecodeOptions&) {
  return open_svhn(spec.where, split_or_train(spec));
}

Opened folder(const DataSpec& spec, const DecodeOptions& decode) {
  return std::make_unique<FolderSource>(split_folder(spec.where, spec.split),
                                        std::vector<std::string>(), decode);
}

// The list may be given relative to the data.
Opened imagenet100(const DataSpec& spec, const DecodeOptions& decode) {
  const std::string root = split_folder(spec.where, spec.split);
  std::vector<std::string> only;
  if (!spec.list.empty()) {
    std::error_code ignored;
    const std::filesystem::path beside = std::filesystem::path(spec.where) / spec.list;
    const bool is_beside =
        !std::filesystem::exists(spec.list, ignored) && std::filesystem::exists(beside, ignored);
    only = read_class_list(is_beside ? beside.string() : spec.list);
  }
  auto source = std::make_unique<FolderSource>(root, only, decode);
  CPL_CHECK(
      !source->classes().empty(), "imagenet100: '", root,
      "' has pictures but no sub-folders; expected one folder per class (sort the pictures of "
      "val into folders first)");
  return source;
}

}  // namespace

std::unique_ptr<Source> open_source(const DataSpec& spec, const DecodeOptions& decode) {
  static const std::map<std::string, Opened (*)(const DataSpec&, const DecodeOptions&)> openers = {
      {"shapes", shapes}, {"cifar10", cifar10}, {"cifar100", cifar100},
      {"svhn", svhn},     {"folder", folder},   {"imagenet100", imagenet100}};
  return openers.at(spec.kind)(spec, decode);
}

}  // namespace cpl
