#pragma once
// The paper's figure of W'W for f = 50, 100 and c = f, 2f, 5f, with the distribution of its
// elements: codes are nearly orthogonal however many there are.

#include <cstdint>
#include <string>

#include "cplearn/hdc/dictionary.h"

namespace cpl {

std::string draw_dictionary_figure(DictionaryKind kind, std::uint64_t seed);

// The distributions as numbers: "f,c,cosine,part".
std::string dictionary_figure_csv(DictionaryKind kind, std::uint64_t seed);

}  // namespace cpl
