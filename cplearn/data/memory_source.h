#pragma once
// Small pictures of one size kept in memory as they stand in the official files.

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/data/source.h"

namespace cpl {

class MemorySource final : public Source {
 public:
  static constexpr int kSide = 32;
  static constexpr std::size_t kBytes = 3 * kSide * kSide;

  // `planes`: [images][3][32][32]. Names are prefix/00012.
  MemorySource(std::vector<std::uint8_t> planes, std::vector<std::uint8_t> labels,
               std::vector<std::string> classes, std::string statistics, std::string prefix);

  std::size_t size() const override { return labels_.size(); }
  std::string name(std::size_t index) const override;
  int label(std::size_t index) const override { return labels_[index]; }
  void read(std::size_t index, Image& image) const override;
  bool worth_caching() const override { return false; }

 private:
  std::vector<std::uint8_t> planes_;
  std::vector<std::uint8_t> labels_;
  std::string prefix_;
};

}  // namespace cpl
