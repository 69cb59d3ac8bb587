#pragma once
// Settings that suit the images at hand, for whoever writes `cplearn train --data DIR` and nothing
// else. Written into config.toml like any other setting; what people write counts more.

#include <cstdint>
#include <set>
#include <string>

#include "cplearn/data/dataset.h"
#include "cplearn/train/options.h"

namespace cpl {

struct DataLook {
  std::int64_t images = 0;
  int side = 0;  // median of the shorter sides in pixels
};

// Looks at a few dozen images, evenly spread over the set; those that cannot be read are left out.
DataLook look_at(const Dataset& data);

// Changes what is not in `written` (names of options): side of the views, backbone, codes,
// optimiser. `options.data` is not read.
void suit_data(const DataLook& look, const std::set<std::string>& written, TrainOptions& options);

// "resnet8 (128 wide), views of 48 x 48 by recipe asymmetric, 2048 codes, batch 64": what was
// chosen.
std::string describe(const TrainOptions& options);

// How many passes over the images fit, at least 1.
std::int64_t epochs_in(double minutes, double images_per_second, std::int64_t images);

}  // namespace cpl
