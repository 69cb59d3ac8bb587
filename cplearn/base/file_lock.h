#pragma once
// A lock that processes and machines sharing a folder agree on. The system gives it back when the
// process ends, however it ends, so that no lock is ever left behind; the file stays and means
// nothing. (flock; on NFS Linux passes it on to the server.)

#include <string>

namespace cpl {

class FileLock {
 public:
  enum class When { kTry, kWait };

  // Makes the file if there is none. Throws cpl::Error if it cannot.
  FileLock(const std::string& path, When when);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }  // false: somebody else has it
  // Whoever holds it, or held it last: "HOST, process 123".
  static std::string holder(const std::string& path);

 private:
  int file_;
  bool held_;
};

}  // namespace cpl
