#pragma once
// The numbers of a run as they come: lines of JSON, and TensorBoard's event files.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cpl {

// One line of metrics.jsonl; has at least "step".
using MetricsLine = nlohmann::ordered_json;

// Sums since the last reset, to be divided by the number of steps.
class Averages {
 public:
  void add(const std::string& name, double value) { sums_[name] += value; }
  void end_step() { ++count_; }
  void reset() { *this = Averages(); }
  double mean(const std::string& name) const;
  std::map<std::string, double> means() const;

  // For checkpoints: the sums, and "count".
  std::map<std::string, double> state() const;
  void load_state(const std::map<std::string, double>& state);

 private:
  std::map<std::string, double> sums_;
  std::int64_t count_ = 0;
};

// Appends lines to a file. A line is written whole or, after a crash, dropped on resume.
class MetricsFile {
 public:
  // Keeps the lines up to `step` of what is there: later ones will come again.
  MetricsFile(const std::string& path, std::int64_t step);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void append(const MetricsLine& line);  // throws cpl::Error

 private:
  std::string path_;
  int file_;
};

// The numbers of a line as scalars in a file that TensorBoard reads.
class TensorboardFile {
 public:
  explicit TensorboardFile(const std::string& directory);
  ~TensorboardFile();
  TensorboardFile(const TensorboardFile&) = delete;
  TensorboardFile& operator=(const TensorboardFile&) = delete;

  void append(const MetricsLine& line);

 private:
  std::string path_;
  int file_;
};

// One record of an event file: length, its checksum, the bytes, their checksum.
std::string tensorboard_record(const std::string& bytes);
// A tensorflow.Event with one scalar, in protobuf's encoding.
std::string tensorboard_scalar(double wall_time, std::int64_t step, const std::string& tag,
                               float value);
// CRC-32C (Castagnoli).
std::uint32_t crc32c(const std::string& bytes);

}  // namespace cpl
