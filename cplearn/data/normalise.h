#pragma once
// From 8-bit pixels to the network's floats: (p / 255 - mean) / std, plus noise, in either layout.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/base/random.h"
#include "cplearn/data/geometry.h"
#include "cplearn/data/image.h"

namespace cpl {

struct Normalisation {
  std::string name;
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

// The known ones. Those ending in "-paper" are the single numbers of the paper's ResNet-8 protocol;
// the others are each data set's statistics per channel.
const std::vector<Normalisation>& normalisations();

// By name; an unknown one is an error that lists the candidates.
const Normalisation& find_normalisation(const std::string& name);

enum class Layout { kChannelsLast, kChannelsFirst };

// A standard normal number for each of 65,536 equally likely 16-bit values (the mean of its slice
// of the bell curve, scaled to variance 1; the largest is 4.3). Far faster than computing one.
const std::vector<float>& normal_table();

class PixelWriter {
 public:
  explicit PixelWriter(const Normalisation& normalisation);

  // Writes `box` of the image, mirrored if `flip`, as box.height * box.width * 3 floats. `noise` is
  // the standard deviation of Gaussian noise added after normalising; the noise of a pixel does not
  // depend on the layout.
  void write(const Image& image, const Box& box, bool flip, float noise, Random& random,
             Layout layout, float* out) const;

  // The inverse, for pictures of what the network sees: channels-last floats to bytes, clipped.
  void restore(const float* in, Image& image) const;

 private:
  Normalisation normalisation_;
  std::array<std::array<float, 256>, 3> table_;
};

}  // namespace cpl
