#pragma once
// A folder that goes when the test does.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cpl::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cplearn_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("no temporary folder " + pattern + ": is TMPDIR writable?");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& below = "") const {
    return below.empty() ? path_ : path_ + "/" + below;
  }
  // Makes the folders on the way.
  std::string write(const std::string& below, const std::vector<std::uint8_t>& bytes) const {
    const std::filesystem::path file = path(below);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return file.string();
  }
  std::string write(const std::string& below, const std::string& text) const {
    return write(below, std::vector<std::uint8_t>(text.begin(), text.end()));
  }

 private:
  std::string path_;
};

}  // namespace cpl::test
