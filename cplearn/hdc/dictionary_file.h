#pragma once
// A dictionary as a safetensors file: its bits and, in the metadata, its kind, shape and seed.

#include <string>

#include "cplearn/hdc/dictionary.h"

namespace cpl {

void save_dictionary(const std::string& path, const Dictionary& dictionary);
Dictionary load_dictionary(const std::string& path);

}  // namespace cpl
