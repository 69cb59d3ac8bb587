#pragma once
// CIFAR-10 and CIFAR-100 in the official binary files.

#include <memory>
#include <string>

#include "cplearn/data/source.h"

namespace cpl {

// `folder` holds the .bin files, or the folder in which the archive unpacks them. `split` is
// "train" or "test". Files of any other than the official size are refused.
std::unique_ptr<Source> open_cifar10(const std::string& folder, const std::string& split);
std::unique_ptr<Source> open_cifar100(const std::string& folder, const std::string& split);

}  // namespace cpl
