#include "cplearn/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cplearn/base/error.h"
#include "cplearn/base/output_file.h"

namespace cpl {
namespace {

constexpr struct {
  int code;
  const char* text;
} kAdvice[] = {
    {ENOSPC, "the disk is full: free some space, or choose another folder"},
    {EDQUOT, "your quota is used up: free some space, or choose another folder"},
    {EFBIG, "larger than the limit on file sizes: raise it (ulimit -f), or choose another folder"},
    {EROFS, "the file system is read-only: choose another folder"},
    {EACCES, "no permission: choose another path, or change the permissions (ls -l shows them)"},
    {EPERM, "not permitted: choose another path, or change the permissions (ls -l shows them)"},
    {ENOENT, "check the spelling; a folder has to exist before something is written into it"},
    {ENOTDIR, "a part of the path is a file, not a folder: check the path"},
    {EISDIR, "this is a folder: give the name of a file"},
    {ENAMETOOLONG, "choose a shorter name"},
    {EMFILE, "too many open files: raise the limit (ulimit -n)"},
    {EWOULDBLOCK, "another process is writing this file: wait for it, or choose another path"},
    {EIO, "the disk reports an error: check it (dmesg), and keep a copy elsewhere"},
};

[[noreturn]] void fail(const char* action, const std::string& path, int code) {
  const auto* row = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                                 [code](const auto& advice) { return advice.code == code; });
  throw Error(str("cannot ", action, " ", path, ": ", std::strerror(code),
                  row == std::end(kAdvice) ? "" : str(" (", row->text, ")")));
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// All bytes, or false with errno.
bool write_all(int fd, std::string_view bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // write(2) moves at most 2 GB at once
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), std::min(bytes.size(), kMost));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool write_pieces(int fd, const std::vector<std::string_view>& pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [fd](std::string_view piece) { return write_all(fd, piece); });
}

// Opens and locks `path`, empty. One fixed name, so that a killed process leaves at most one
// temporary file, which the next writer takes over; the lock keeps two living writers apart.
int open_locked(const std::string& path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    struct stat opened {
    }, named{};
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 || ::fstat(fd, &opened) != 0) {
      const int code = errno;
      ::close(fd);
      errno = code;
      return -1;
    }
    // Another writer may have renamed this very file between our open and our lock.
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev && ::ftruncate(fd, 0) == 0) {
      return fd;
    }
    ::close(fd);
  }
}

// Makes a rename in `folder` survive a power cut. Some file systems cannot; that is no failure.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

void write_file(const std::string& path, const std::vector<std::string_view>& pieces) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail("write", path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0 || !write_pieces(fd.get(), pieces) || !fd.close()) fail("write", path, errno);
    return;
  }

  OutputFile file(path);
  for (const std::string_view piece : pieces) file.append(piece);
  file.commit();
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
  std::error_code failed;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, failed))) {
    target_ = std::filesystem::weakly_canonical(path, failed).string();
    if (failed) fail("write", path, failed.value());
  }
  if (std::filesystem::is_directory(target_, failed)) fail("write", path, EISDIR);
  fd_ = open_locked(temporary());
  if (fd_ < 0) fail("write", path, errno);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::unlink(temporary().c_str());
  ::close(fd_);
}

void OutputFile::append(std::string_view bytes) {
  if (!write_all(fd_, bytes)) fail("write", path_, errno);
}

void OutputFile::replace_beginning(std::string_view bytes) {
  if (::lseek(fd_, 0, SEEK_SET) != 0 || !write_all(fd_, bytes) || ::lseek(fd_, 0, SEEK_END) < 0)
    fail("write", path_, errno);
}

void OutputFile::commit() {
  // The name is taken before the lock is given up.
  if (::fsync(fd_) != 0 || ::rename(temporary().c_str(), target_.c_str()) != 0)
    fail("write", path_, errno);
  ::close(std::exchange(fd_, -1));
  sync_folder(std::filesystem::path(target_).parent_path());
}

std::string read_file(const std::string& path, std::uint64_t max_bytes) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail("read", path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("read", path, errno);
  if (S_ISDIR(status.st_mode)) fail("read", path, EISDIR);

  const auto check_limit = [&](std::uint64_t bytes) {
    CPL_CHECK(bytes <= max_bytes, "cannot read ", path, ": it has ", bytes,
              " bytes, expected at most ", max_bytes, " (is it the right file?)");
  };
  const auto expected = static_cast<std::uint64_t>(status.st_size);
  check_limit(expected);
  std::string bytes;
  bytes.resize(expected);
  std::size_t filled = 0;
  for (;;) {  // a pipe has no size, a file may grow meanwhile: read until nothing comes
    if (filled == bytes.size()) {
      char more = 0;
      const ssize_t got = ::read(fd.get(), &more, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read", path, errno);
      if (got == 0) return bytes;
      check_limit(filled + 1);
      bytes.resize(std::max<std::size_t>(2 * filled, 4096));
      bytes[filled++] = more;
    }
    const ssize_t got = ::read(fd.get(), &bytes[filled], bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    filled += static_cast<std::size_t>(got);
    check_limit(filled);
    if (got == 0) bytes.resize(filled);
  }
}

bool file_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::uint64_t checksum(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::string checksum_text(std::string_view bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(checksum(bytes)));
  return text;
}

}  // namespace cpl
