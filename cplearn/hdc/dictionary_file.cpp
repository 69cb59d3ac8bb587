#include "cplearn/hdc/dictionary_file.h"

#include <sstream>

#include "cplearn/base/error.h"
#include "cplearn/base/safetensors.h"

namespace cpl {
namespace {

constexpr const char* kTensor = "dictionary";

std::string entry(const Metadata& metadata, const std::string& key, const std::string& path) {
  const auto found = metadata.find(key);
  CPL_CHECK(found != metadata.end(), path, ": no '", key,
            "' in its metadata; this is not a dictionary saved by cplearn");
  return found->second;
}

template <class T>
T number(const Metadata& metadata, const std::string& key, const std::string& path) {
  const std::string text = entry(metadata, key, path);
  std::istringstream in(text);
  T value{};
  CPL_CHECK(in >> value && in.eof(), path, ": '", key, "' must be a number, got '", text, "'");
  return value;
}

}  // namespace

void save_dictionary(const std::string& path, const Dictionary& dictionary) {
  const std::vector<std::uint8_t>& bits = dictionary.bits();
  const std::string_view bytes(reinterpret_cast<const char*>(bits.data()), bits.size());
  const bool hadamard = dictionary.kind() == DictionaryKind::kHadamard;
  write_safetensors(path, {{kTensor, {"U8", {static_cast<std::int64_t>(bits.size())}, bytes}}},
                    {{"kind", hadamard ? "hadamard" : "rademacher"},
                     {"width", std::to_string(dictionary.width())},
                     {"codes", std::to_string(dictionary.codes())},
                     {"seed", std::to_string(dictionary.seed())}});
}

Dictionary load_dictionary(const std::string& path) {
  const Safetensors file = Safetensors::read(path);
  const auto tensor = file.tensors().find(kTensor);
  CPL_CHECK(tensor != file.tensors().end() && tensor->second.dtype == "U8", path, ": no tensor '",
            kTensor, "' of bytes; this is not a dictionary saved by cplearn");
  const std::string kind = entry(file.metadata(), "kind", path);
  CPL_CHECK(kind == "hadamard" || kind == "rademacher", path,
            ": kind must be hadamard or rademacher, got '", kind, "'");
  const std::string_view bytes = tensor->second.bytes;
  return Dictionary(kind == "hadamard" ? DictionaryKind::kHadamard : DictionaryKind::kRademacher,
                    number<std::int64_t>(file.metadata(), "width", path),
                    number<std::int64_t>(file.metadata(), "codes", path),
                    number<std::uint64_t>(file.metadata(), "seed", path),
                    std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

}  // namespace cpl
