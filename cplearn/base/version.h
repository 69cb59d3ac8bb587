#pragma once
#include <string>

namespace cpl {
std::string version();  // "0.1.0"
}
