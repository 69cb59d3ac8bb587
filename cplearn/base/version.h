#pragma once
#include <string>

namespace cpl {
std::string version();        // "0.1.0"
std::string torch_version();  // of the libtorch that this build is for, "2.6.0"
bool torch_has_onednn();      // whether that libtorch computes convolutions with oneDNN
}  // namespace cpl
