#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "cplearn/base/error.h"

namespace cpl::cli {

// A new folder that disappears with it.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::error_code error;  // TMPDIR names no folder
    path = std::filesystem::temp_directory_path(error) / "cplearn-XXXXXX";
    CPL_CHECK(!error && ::mkdtemp(path.data()) != nullptr,
              "cannot make a temporary folder: set TMPDIR to a folder that can be written");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace cpl::cli
