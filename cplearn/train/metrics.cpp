#include "cplearn/train/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"

namespace cpl {
namespace {

int open_to_append(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  CPL_CHECK(file >= 0, "cannot write ", path, ": ", std::strerror(errno),
            "; choose another --out, or free the disk");
  return file;
}

void append_all(int file, const std::string& path, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    CPL_CHECK(n >= 0, "cannot write ", path, ": ", std::strerror(errno),
              "; free the disk and go on with --resume");
    done += static_cast<std::size_t>(n);
  }
}

template <class T>
void put(std::string& out, T value) {  // little-endian, as every machine this runs on
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_bytes(std::string& out, int field, const std::string& bytes) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

double wall_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

double Averages::mean(const std::string& name) const {
  const auto sum = sums_.find(name);
  return sum == sums_.end() || count_ == 0 ? 0 : sum->second / static_cast<double>(count_);
}

std::map<std::string, double> Averages::means() const {
  std::map<std::string, double> result;
  for (const auto& [name, sum] : sums_) result[name] = mean(name);
  return result;
}

std::map<std::string, double> Averages::state() const {
  std::map<std::string, double> state = sums_;
  state["count"] = static_cast<double>(count_);
  return state;
}

void Averages::load_state(const std::map<std::string, double>& state) {
  sums_ = state;
  sums_.erase("count");
  count_ = state.count("count") ? static_cast<std::int64_t>(state.at("count")) : 0;
}

MetricsFile::MetricsFile(const std::string& path, std::int64_t step) : path_(path), file_(-1) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) {
    std::istringstream lines(read_file(path));
    std::string line, kept;
    while (std::getline(lines, line)) {
      const MetricsLine parsed = MetricsLine::parse(line, nullptr, false);
      if (parsed.is_object() && parsed.value("step", step + 1) <= step) kept += line + "\n";
    }
    write_file(path, kept);
  }
  file_ = open_to_append(path);
}

MetricsFile::~MetricsFile() { ::close(file_); }

void MetricsFile::append(const MetricsLine& line) { append_all(file_, path_, line.dump() + "\n"); }

TensorboardFile::TensorboardFile(const std::string& directory)
    : path_(str(directory, "/events.out.tfevents.", static_cast<std::int64_t>(wall_seconds()), ".",
                ::getpid(), ".cplearn")),
      file_(open_to_append(path_)) {
  std::string version;  // Event{wall_time, file_version}
  version += '\x09';
  put(version, wall_seconds());
  put_bytes(version, 3, "brain.Event:2");
  append_all(file_, path_, tensorboard_record(version));
}

TensorboardFile::~TensorboardFile() { ::close(file_); }

void TensorboardFile::append(const MetricsLine& line) {
  std::string records;
  const double now = wall_seconds();
  const auto step = line.at("step").get<std::int64_t>();
  for (const auto& [name, value] : line.items()) {
    if (value.is_number() && name != "step")
      records += tensorboard_record(tensorboard_scalar(now, step, name, value.get<float>()));
  }
  append_all(file_, path_, records);
}

std::uint32_t crc32c(const std::string& bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0);
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const unsigned char byte : bytes) crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8;
  return ~crc;
}

std::string tensorboard_record(const std::string& bytes) {
  const auto masked = [](const std::string& part) {
    const std::uint32_t crc = crc32c(part);
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
  };
  std::string record;
  put(record, static_cast<std::uint64_t>(bytes.size()));
  put(record, masked(record));
  record += bytes;
  put(record, masked(bytes));
  return record;
}

std::string tensorboard_scalar(double wall_time, std::int64_t step, const std::string& tag,
                               float value) {
  std::string scalar;  // Summary.Value{tag = 1, simple_value = 2}
  put_bytes(scalar, 1, tag);
  scalar += '\x15';
  put(scalar, value);
  std::string summary;  // Summary{value = 1}
  put_bytes(summary, 1, scalar);
  std::string event;  // Event{wall_time = 1, step = 2, summary = 5}
  event += '\x09';
  put(event, wall_time);
  event += '\x10';
  put_varint(event, static_cast<std::uint64_t>(step));
  put_bytes(event, 5, summary);
  return event;
}

}  // namespace cpl
