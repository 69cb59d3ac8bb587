#pragma once
// Drawings made on the fly: 32x32 in colour, ten classes by shape. Everything else (colours,
// texture, place, size, angle, stretch, background, clutter, light, noise) is drawn without regard
// to the class, and all shapes cover the same area, so that neither pixels nor their statistics
// give it away.

#include <string>

#include "cplearn/data/source.h"

namespace cpl {

class ShapesSource final : public Source {
 public:
  static constexpr int kSide = 32;
  static constexpr int kClasses = 10;

  // `count` 0: 5,000 for "train", 1,000 for "test". Image i of a split is the same for any count,
  // on any machine; the splits never share a drawing.
  ShapesSource(std::size_t count, const std::string& split);

  std::size_t size() const override { return count_; }
  std::string name(std::size_t index) const override;
  int label(std::size_t index) const override { return static_cast<int>(index % kClasses); }
  void read(std::size_t index, Image& image) const override;

 private:
  std::size_t count_;
  bool test_;
};

}  // namespace cpl
