#pragma once
// Public data sets from where their authors put them: fetched with curl, checked, unpacked with
// tar. What is there already is not fetched again, and a download that was cut off goes on.

#include <string>
#include <vector>

namespace cpl {

struct RemoteFile {
  std::string url;
  std::string md5;  // as its authors publish it
  // The last part of the URL, which is also its name here.
  std::string name() const { return url.substr(url.rfind('/') + 1); }
};

// The files of a data set of data_kinds(); empty for those that cannot be fetched.
std::vector<RemoteFile> remote_files(const std::string& data_kind);

// Puts the file into `folder`, which is made if it is missing, and unpacks it there if it is a
// .tar.gz. False if it was there already. Nothing of a wrong checksum is kept or unpacked.
bool fetch(const RemoteFile& file, const std::string& folder, bool quiet);

}  // namespace cpl
