#pragma once
// Images made worse on purpose, to see what a method can take: SPEC+NAME, for instance
// cifar10:DIR@train#2000+grey. The same on every machine; labels stay what they were.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cplearn/data/source.h"

namespace cpl {

struct Alteration {
  const char* name;
  const char* help;
  // Which of the chosen images remain, in which order; null: all of them.
  std::vector<std::uint32_t> (*choose)(const Source& source,
                                       const std::vector<std::uint32_t>& chosen);
  // Changes the pixels of the source's image number `index`; null: they stay.
  void (*paint)(std::size_t index, Image& image);
};

const std::vector<Alteration>& alterations();
const Alteration* find_alteration(const std::string& name);  // null: there is none

}  // namespace cpl
