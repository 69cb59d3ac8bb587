#pragma once
// A picture of what the network sees.

#include <cstdint>
#include <string>

#include "cplearn/data/dataset.h"
#include "cplearn/data/recipe.h"

namespace cpl {

// Writes a PNG with one row for each of `images` pictures spread over the data set: the original,
// then its views (with the noise, without the normalisation). Bad pictures are passed over.
void write_contact_sheet(const std::string& path, const Dataset& dataset,
                         const AugmentOptions& augment, std::uint64_t seed, int images);

}  // namespace cpl
