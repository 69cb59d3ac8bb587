#pragma once
// A file that is written piece by piece and appears under its name only when it is complete: what
// write_file (base/file.h) does, for contents that do not fit in memory.

#include <string>
#include <string_view>

namespace cpl {

class OutputFile {
 public:
  // Throws cpl::Error with the path, the reason and what to do, as the others do.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // without commit() nothing is left, and the old file stays
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view bytes);
  void replace_beginning(std::string_view bytes);  // a header that counts what follows
  void commit();

 private:
  std::string temporary() const { return target_ + ".tmp"; }

  std::string path_, target_;
  int fd_ = -1;
};

}  // namespace cpl
