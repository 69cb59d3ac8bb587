#pragma once
// A run's files in a directory of their own.

#include "tests/temporary_folder.h"

namespace cpl {

class RunFolder : public test::TemporaryFolder {
 public:
  const RunFolder& put(const std::string& name, const std::string& text) const {
    write(name, text);
    return *this;
  }
};

}  // namespace cpl
