#pragma once
// The only functions of the library that write and read whole files.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace cpl {

// Replaces the file at `path` by the pieces, one after another: after a crash, a full disk or a
// lost battery there is either the old file or the new one, never a part. The bytes go to
// `path`.tmp, reach the disk, and only then take the name. A symbolic link is followed, a device or
// a pipe is written directly. Throws cpl::Error with the path, the reason and what to do; the old
// file stays.
void write_file(const std::string& path, const std::vector<std::string_view>& pieces);
inline void write_file(const std::string& path, std::string_view contents) {
  write_file(path, std::vector<std::string_view>{contents});
}

// The whole file. A file of more than `max_bytes` is refused before memory is taken for it.
std::string read_file(const std::string& path,
                      std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

bool file_exists(const std::string& path);  // a folder as well

// XXH64 with seed 0, as `xxh64sum` and Python's `xxhash` compute it: about 10 GB/s.
std::uint64_t checksum(std::string_view bytes);

// 16 hexadecimal digits.
std::string checksum_text(std::string_view bytes);

}  // namespace cpl
