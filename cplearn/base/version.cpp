#include "cplearn/base/version.h"

namespace cpl {
std::string version() { return CPLEARN_VERSION; }
std::string torch_version() { return CPLEARN_TORCH_VERSION; }
bool torch_has_onednn() { return CPLEARN_TORCH_ONEDNN; }
}  // namespace cpl
