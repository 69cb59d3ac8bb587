#pragma once
// From the name of a data set to its images.

#include <memory>

#include "cplearn/data/decode.h"
#include "cplearn/data/source.h"
#include "cplearn/data/spec.h"

namespace cpl {

std::unique_ptr<Source> open_source(const DataSpec& spec, const DecodeOptions& decode);

}  // namespace cpl
