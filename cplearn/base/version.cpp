#include "cplearn/base/version.h"

namespace cpl {
std::string version() { return CPLEARN_VERSION; }
}  // namespace cpl
