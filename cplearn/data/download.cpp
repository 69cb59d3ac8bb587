#include "cplearn/data/download.h"

#include <unistd.h>

#include <filesystem>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/file_lock.h"
#include "cplearn/base/process.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

std::string md5_of(const std::string& path) {
  std::string output;
  CPL_CHECK(run_program({"md5sum", "--", path}, &output) == 0 && output.size() >= 32,
            "the checksum of '", path, "' cannot be computed: is it readable?");
  // A name with a backslash is announced by one before the sum.
  return output.substr(output[0] == '\\' ? 1 : 0, 32);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Goes on where an earlier call was cut off.
void download(const std::string& url, const std::string& path, bool quiet) {
  std::vector<std::string> curl = {"curl",          "--fail", "--location", "--retry", "3",
                                   "--continue-at", "-",      "--output",   path};
  if (quiet || isatty(STDERR_FILENO) == 0) {
    curl.insert(curl.end(), {"--silent", "--show-error"});
  } else {
    curl.emplace_back("--progress-bar");
  }
  curl.insert(curl.end(), {"--", url});
  int code = run_program(curl);
  constexpr int kNoRanges = 33;  // the server cannot go on: once more from the start
  std::error_code ignored;
  if (code == kNoRanges && fs::remove(path, ignored)) code = run_program(curl);
  CPL_CHECK(code == 0, "'", url, "' could not be fetched (curl ended with ", code,
            "); call this again to go on from where it stopped, or download it yourself to '",
            fs::path(path).replace_extension().string(), "'");
}

}  // namespace

std::vector<RemoteFile> remote_files(const std::string& data_kind) {
  if (data_kind == "cifar10")
    return {{"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
             "c32a1d4ab5d03f1284b67883e8d87530"}};
  if (data_kind == "cifar100")
    return {{"https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
             "03b5dce01913d631647c71ecec9e9cb8"}};
  if (data_kind == "svhn")
    return {{"http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
             "e26dedcc434d2e4c54c9b2d4a06d8373"},
            {"http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
             "eb5a983be6a315427106f1b164d9cef3"}};
  return {};
}

bool fetch(const RemoteFile& file, const std::string& folder, bool quiet) {
  std::error_code problem, ignored;
  fs::create_directories(folder, problem);
  CPL_CHECK(fs::is_directory(folder, ignored), "the folder '", folder,
            "' cannot be made: ", problem.message(), "; choose another one");
  const std::string path = (fs::path(folder) / file.name()).string(), part = path + ".part";
  const auto is_whole = [&file](const std::string& at) {
    return file_exists(at) && md5_of(at) == file.md5;
  };
  const bool archive = ends_with(path, ".tar.gz");
  if (!archive && is_whole(path)) return false;
  const FileLock alone((fs::path(folder) / ".fetch.lock").string(),
                       FileLock::When::kWait);  // two at once would mix their bytes
  const bool present = is_whole(path);
  CPL_CHECK(present || !file_exists(path), "'", path, "' is here already, but is not the file of '",
            file.url, "' (its checksum is not ", file.md5,
            "); move it away, or fetch into another folder");
  if (!present) {
    if (!is_whole(part)) download(file.url, part, quiet);
    const std::string found = md5_of(part);
    if (found != file.md5) fs::remove(part, ignored);
    CPL_CHECK(found == file.md5, "'", file.url, "' has the checksum ", found, ", not ", file.md5,
              ": it is damaged or another file, and was removed; try again");
    fs::rename(part, path, problem);
    CPL_CHECK(!problem, "'", part, "' cannot be renamed: ", problem.message());
  }
  if (archive)
    CPL_CHECK(run_program({"tar", "--extract", "--force-local", "--gzip", "--no-same-owner",
                           "--directory", folder, "--file", path}) == 0,
              "'", path, "' cannot be unpacked; is the disk full?");
  return !present;
}

}  // namespace cpl
