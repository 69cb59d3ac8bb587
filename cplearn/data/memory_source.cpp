#include "cplearn/data/memory_source.h"

#include <cstdio>

namespace cpl {

MemorySource::MemorySource(std::vector<std::uint8_t> planes, std::vector<std::uint8_t> labels,
                           std::vector<std::string> classes, std::string statistics,
                           std::string prefix)
    : Source(std::move(classes), std::move(statistics)),
      planes_(std::move(planes)),
      labels_(std::move(labels)),
      prefix_(std::move(prefix)) {
  CPL_CHECK(planes_.size() == labels_.size() * kBytes, prefix_, ": ", planes_.size(),
            " bytes of pixels for ", labels_.size(), " labels");
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    CPL_CHECK(labels_[i] < classes_.size(), name(i), ": label ", int{labels_[i]},
              " is out of range, expected 0 to ", classes_.size() - 1,
              "; the file is damaged or of another data set");
  }
}

std::string MemorySource::name(std::size_t index) const {
  char number[24];
  std::snprintf(number, sizeof number, "/%05zu", index);
  return prefix_ + number;
}

void MemorySource::read(std::size_t index, Image& image) const {
  image.resize(kSide, kSide);
  const std::uint8_t* red = planes_.data() + index * kBytes;
  const std::uint8_t* green = red + kSide * kSide;
  const std::uint8_t* blue = green + kSide * kSide;
  std::uint8_t* out = image.pixels.data();
  for (int i = 0; i < kSide * kSide; ++i, out += 3) {
    out[0] = red[i];
    out[1] = green[i];
    out[2] = blue[i];
  }
}

}  // namespace cpl
