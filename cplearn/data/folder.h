#pragma once
// Pictures of any size below a folder. Sub-folders are classes when there are any.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cplearn/data/decode.h"
#include "cplearn/data/source.h"

namespace cpl {

class FolderSource final : public Source {
 public:
  // Lists `root` recursively, in the order of the names. A picture's class is the first folder
  // below the root that it lies in; one that lies in the root beside class folders has label -1.
  // When `only` is not empty, just those sub-folders are taken, in that order.
  FolderSource(const std::string& root, const std::vector<std::string>& only,
               const DecodeOptions& decode);

  std::size_t size() const override { return labels_.size(); }
  std::string name(std::size_t index) const override;
  int label(std::size_t index) const override { return labels_[index]; }
  void read(std::size_t index, Image& image) const override;

 private:
  struct Listing;
  void scan(const std::string& below, int label, Listing& listing);

  std::string root_;
  DecodeOptions decode_;
  // Paths below the root, one after the other: a million names cost little more than their letters.
  std::string names_;
  std::vector<std::size_t> ends_;
  std::vector<std::int32_t> labels_;
};

// The part of `root` that holds a split: "train" is root/train, "test" is root/test or root/val.
// With no split it is root/train if there is a held-out folder beside it, and otherwise all of
// root.
std::string split_folder(const std::string& root, const std::string& split);

// The first word of each line of a text file; '#' begins a comment.
std::vector<std::string> read_class_list(const std::string& path);

}  // namespace cpl
