#include "cplearn/base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"

namespace cpl {
namespace {

using Json = nlohmann::json;  // keys sorted: dump() is the canonical text that is checksummed

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "xxh64";

const std::map<std::string, std::int64_t>& dtypes() {
  static const std::map<std::string, std::int64_t> table = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  return table;
}

std::string checksum_key(const std::string& name) { return str(kChecksum, ":", name); }

bool is_checksum_key(const std::string& key) { return key.rfind(kChecksum, 0) == 0; }

// Bytes of a tensor, or -1 if the shape or the type makes no sense.
std::int64_t bytes_of(const std::string& dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = dtype_bytes(dtype);
  if (bytes == 0) return -1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  return bytes;
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return Json(shape).dump(); }

// JSON in which no object has a key twice (parsers would silently keep the last).
Json parse_header(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&keys](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      CPL_CHECK(keys.back().insert(value.get<std::string>()).second, "the name ", value.dump(),
                " occurs twice");
    }
    return true;
  };
  try {
    Json header = Json::parse(text.begin(), text.end(), check);
    CPL_CHECK(header.is_object(), "the header is not a JSON object");
    return header;
  } catch (const Json::exception& error) {
    throw Error(str("the header is not valid JSON: ", error.what()));
  }
}

struct Parsed {
  NamedBytes tensors;
  Metadata metadata;
  bool has_checksums = false;
};

Parsed parse(std::string_view file) {
  CPL_CHECK(file.size() >= kLengthBytes, "it has ", file.size(), " bytes, not even a header");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  CPL_CHECK(length <= kMaxHeader, "the header claims ", length, " bytes, more than the ",
            kMaxHeader, " allowed");
  CPL_CHECK(length <= file.size() - kLengthBytes, "the header claims ", length, " bytes, but only ",
            file.size() - kLengthBytes, " follow: the file is truncated");
  Json header = parse_header(file.substr(kLengthBytes, length));
  const std::string_view data = file.substr(kLengthBytes + length);

  Parsed result;
  Metadata checksums;
  if (header.contains(kMetadata)) {
    Json& metadata = header[kMetadata];
    for (const auto& [key, value] : metadata.items()) {
      CPL_CHECK(value.is_string(), "the metadata ", key, " is not a string");
      (is_checksum_key(key) ? checksums : result.metadata)[key] = value.get<std::string>();
    }
    result.has_checksums = !checksums.empty();
    if (result.has_checksums) {
      metadata.erase(kChecksum);
      CPL_CHECK(checksums[kChecksum] == checksum_text(header.dump()),
                "the checksum of the header is wrong: the file is damaged");
    }
    header.erase(kMetadata);
  }

  // (begin, end, name), to be laid side by side
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> extents;
  for (const auto& [name, entry] : header.items()) {
    TensorBytes tensor;
    std::vector<std::int64_t> offsets;
    try {
      tensor.dtype = entry.at("dtype").get<std::string>();
      tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
      offsets = entry.at("data_offsets").get<std::vector<std::int64_t>>();
    } catch (const Json::exception& error) {
      throw Error(str("the entry of tensor ", name, " is malformed: ", error.what()));
    }
    const std::int64_t expected = bytes_of(tensor.dtype, tensor.shape);
    CPL_CHECK(expected >= 0, "tensor ", name, " has the impossible type ", tensor.dtype,
              " or shape ", shape_text(tensor.shape));
    CPL_CHECK(offsets.size() == 2 && offsets[0] >= 0 && offsets[0] <= offsets[1], "tensor ", name,
              " has the impossible extent ", shape_text(offsets));
    CPL_CHECK(offsets[1] - offsets[0] == expected, "tensor ", name, " of type ", tensor.dtype,
              " and shape ", shape_text(tensor.shape), " needs ", expected,
              " bytes, the file gives ", offsets[1] - offsets[0]);
    CPL_CHECK(static_cast<std::uint64_t>(offsets[1]) <= data.size(), "tensor ", name,
              " ends at byte ", offsets[1], ", but only ", data.size(),
              " bytes of data follow: the file is truncated");
    tensor.bytes =
        data.substr(static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(expected));
    extents.emplace_back(offsets[0], offsets[1], name);
    if (result.has_checksums) {
      CPL_CHECK(checksums[checksum_key(name)] == checksum_text(tensor.bytes),
                "the checksum of tensor ", name, " is wrong: the file is damaged");
    }
    result.tensors.emplace(name, std::move(tensor));
  }

  std::sort(extents.begin(), extents.end());
  std::int64_t filled = 0;
  for (const auto& [begin, end, name] : extents) {
    CPL_CHECK(begin == filled, "tensor ", name, " begins at byte ", begin, ", expected ", filled,
              begin < filled ? ": tensors overlap" : ": there is a hole");
    filled = end;
  }
  CPL_CHECK(static_cast<std::uint64_t>(filled) == data.size(), data.size() - filled,
            " bytes after the last tensor belong to nothing");
  return result;
}

}  // namespace

std::int64_t dtype_bytes(const std::string& dtype) {
  const auto row = dtypes().find(dtype);
  return row == dtypes().end() ? 0 : row->second;
}

void write_safetensors(const std::string& path, const NamedBytes& tensors,
                       const Metadata& metadata) {
  // Wide types first: every tensor is then aligned to its own element, as readers that map files
  // like.
  std::vector<NamedBytes::const_iterator> order;
  for (auto it = tensors.begin(); it != tensors.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return dtype_bytes(a->second.dtype) > dtype_bytes(b->second.dtype);
  });

  Json header = {{kMetadata, metadata}};
  for (const auto& [key, value] : metadata) {
    CPL_CHECK(!is_checksum_key(key), "the metadata key ", key, " is reserved: do not begin with ",
              kChecksum);
  }
  std::vector<std::string_view> pieces(2);
  std::size_t offset = 0;
  for (const auto& it : order) {
    const auto& [name, tensor] = *it;
    CPL_CHECK(name != kMetadata, "a tensor cannot be named ", kMetadata);
    CPL_CHECK(
        bytes_of(tensor.dtype, tensor.shape) == static_cast<std::int64_t>(tensor.bytes.size()),
        "tensor ", name, " of type ", tensor.dtype, " and shape ", shape_text(tensor.shape),
        " cannot have ", tensor.bytes.size(), " bytes");
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    header[kMetadata][checksum_key(name)] = checksum_text(tensor.bytes);
    offset += tensor.bytes.size();
    pieces.push_back(tensor.bytes);
  }
  try {
    header[kMetadata][kChecksum] = checksum_text(header.dump());
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins at a multiple of 8
    CPL_CHECK(text.size() <= kMaxHeader, "the header would have ", text.size(),
              " bytes, more than the ", kMaxHeader, " allowed: shorten the metadata");
    const std::uint64_t length = text.size();
    char length_bytes[kLengthBytes];
    std::memcpy(length_bytes, &length, kLengthBytes);
    pieces[0] = {length_bytes, kLengthBytes};
    pieces[1] = text;
    write_file(path, pieces);
  } catch (const Json::exception& error) {
    throw Error(
        str("cannot write ", path, ": a name or metadata is not UTF-8 (", error.what(), ")"));
  }
}

Safetensors Safetensors::read(const std::string& path) {
  Safetensors result;
  result.file_ = std::make_shared<const std::string>(read_file(path));
  try {
    Parsed parsed = parse(*result.file_);
    result.tensors_ = std::move(parsed.tensors);
    result.metadata_ = std::move(parsed.metadata);
    result.has_checksums_ = parsed.has_checksums;
  } catch (const Error& error) {
    throw Error(str("cannot read ", path, " as safetensors: ", error.what(),
                    " (use another copy, or the checkpoint before)"));
  }
  return result;
}

}  // namespace cpl
