#include "cplearn/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"

namespace cpl {

FileLock::FileLock(const std::string& path, When when)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)) {
  CPL_CHECK(file_ >= 0, "cannot make the lock ", path, ": ", std::strerror(errno),
            "; the folder must be writable");
  int code;
  do {
    code = ::flock(file_, LOCK_EX | (when == When::kTry ? LOCK_NB : 0));
  } while (code != 0 && errno == EINTR);
  held_ = code == 0;
  if (!held_) {
    const int reason = errno;
    if (reason != EWOULDBLOCK) ::close(file_);
    CPL_CHECK(reason == EWOULDBLOCK, "cannot lock ", path, ": ", std::strerror(reason),
              "; use a folder whose file system has locks");
    return;
  }
  char host[256] = "this machine";
  ::gethostname(host, sizeof host - 1);
  const std::string words = str(host, ", process ", ::getpid(), "\n");
  // Only for people: a lock without these words is a lock all the same.
  if (::ftruncate(file_, 0) == 0 && ::write(file_, words.data(), words.size()) < 0) return;
}

FileLock::~FileLock() { ::close(file_); }

std::string FileLock::holder(const std::string& path) {
  std::string words = read_file(path, 4096);
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

}  // namespace cpl
