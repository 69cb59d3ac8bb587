#pragma once
// Progress of long work for people: a bar that redraws itself on a terminal, a plain line now and
// then elsewhere. Writes to standard error, which is the only place a library class does so.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace cpl {

class Progress {
 public:
  enum class Mode { kAuto, kBar, kLines, kQuiet };

  // `unit` of the rate, for instance "images"; `done` of `total` is where this session begins.
  Progress(std::int64_t total, std::string unit, Mode mode = Mode::kAuto, std::int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `words` follow the bar, for instance "loss 3.2".
  void update(std::int64_t done, const std::string& words = "");

  // A line of its own, without tearing the bar.
  void message(const std::string& text);

  // Ends the bar; called by the destructor as well.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  std::int64_t total_, begin_, done_;
  std::string unit_, words_;
  Mode mode_;
  Clock::time_point start_, drawn_;
  bool open_ = false;  // a bar stands on the last line of the terminal
};

// Work in stages: one bar after another.
class StageProgress {
 public:
  // `words` stand before the name of the stage.
  explicit StageProgress(Progress::Mode mode, std::string words = "")
      : mode_(mode), words_(std::move(words)) {}

  void update(const std::string& stage, std::int64_t done, std::int64_t total);

 private:
  Progress::Mode mode_;
  std::string words_, stage_;
  std::unique_ptr<Progress> bar_;
};

// "[#####.....]  50%  12.3 images/s  2 min 05 s left  loss 3.2", within `columns`.
std::string progress_line(double fraction, double per_second, double seconds_left,
                          const std::string& unit, const std::string& words, int columns);

}  // namespace cpl
