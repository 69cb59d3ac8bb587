#pragma once
// Many small pictures in one, for pages.

#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/data/dataset.h"

namespace cpl {

struct Sprite {
  int tile = 32;                   // side in pixels
  int columns = 50;                // tiles side by side
  std::vector<std::uint8_t> jpeg;  // the file
};

// The given images of the data set, in rows: shorter side to `tile`, cut out of the centre.
// Pictures that cannot be read stay grey.
Sprite make_sprite(const Dataset& data, const std::vector<std::uint32_t>& images, int tile = 32);

}  // namespace cpl
