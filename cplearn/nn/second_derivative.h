#pragma once
// For functions whose backward pass is kernels of our own.

#include <c10/core/GradMode.h>

#include "cplearn/base/error.h"

namespace cpl {

// At the head of such a backward pass. What kernels compute has no graph of its own: whoever asked
// for one (create_graph) would get second derivatives that lack a part, and not be told.
inline void refuse_second_derivative(const char* function) {
  CPL_CHECK(!c10::GradMode::is_enabled(), function,
            " has no second derivative, which create_graph asks for: build the backbone with "
            "BackboneOptions::plain, or call libtorch's own operation");
}

}  // namespace cpl
