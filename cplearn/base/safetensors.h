#pragma once
// The safetensors format, without torch: 8 bytes little-endian length, a JSON header, raw data.
// https://github.com/huggingface/safetensors
//
// Files written here open in every safetensors reader. Their `__metadata__` also holds an XXH64
// checksum of each tensor ("xxh64:NAME") and of the header itself ("xxh64", over the header's JSON
// with sorted keys, no spaces and without that entry). Both are verified on reading, before
// anything is used. Files from elsewhere, which have none, are read with the structural checks
// alone.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cpl {

// A tensor's bytes, row-major and little-endian, owned by somebody else.
struct TensorBytes {
  std::string dtype;  // as the format spells it: "F32", "I64", "BF16", ...
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

using NamedBytes = std::map<std::string, TensorBytes>;
using Metadata = std::map<std::string, std::string>;

// Bytes per element; 0 if the format has no such type.
std::int64_t dtype_bytes(const std::string& dtype);

// Keys beginning with "xxh64" are reserved. Throws cpl::Error; see write_file.
void write_safetensors(const std::string& path, const NamedBytes& tensors,
                       const Metadata& metadata = {});

// A file in memory, verified. The tensors point into it.
class Safetensors {
 public:
  // Throws cpl::Error naming the file and the damage: never crashes, never takes more memory than
  // the file is long, whatever the file contains.
  static Safetensors read(const std::string& path);

  const NamedBytes& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }  // without the checksums
  bool has_checksums() const { return has_checksums_; }

 private:
  Safetensors() = default;

  std::shared_ptr<const std::string> file_;  // shared by copies, so that the views stay valid
  NamedBytes tensors_;
  Metadata metadata_;
  bool has_checksums_ = false;
};

}  // namespace cpl
