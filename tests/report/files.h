#pragma once
// A run's files in a directory of their own, which goes when the test does.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cplearn/base/file.h"

namespace cpl {

class RunFolder {
 public:
  RunFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "cplearn-XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  ~RunFolder() { std::filesystem::remove_all(path_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const RunFolder& put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    write_file(file(name), text);
    return *this;
  }

 private:
  std::string path_;
};

}  // namespace cpl
