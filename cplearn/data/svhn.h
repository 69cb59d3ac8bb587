#pragma once
// SVHN's cropped digits: {train,test,extra}_32x32.mat in MATLAB's version 5 format.

#include <memory>
#include <string>

#include "cplearn/data/source.h"

namespace cpl {

// `split` is "train", "test" or "extra".
std::unique_ptr<Source> open_svhn(const std::string& folder, const std::string& split);

}  // namespace cpl
