#include "cplearn/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "cplearn/base/table.h"

namespace cpl {
namespace {

constexpr double kBarSeconds = 0.1;
constexpr double kLineSeconds = 10;

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

void StageProgress::update(const std::string& stage, std::int64_t done, std::int64_t total) {
  if (stage != stage_ || !bar_) {
    bar_.reset();  // ends before the next begins
    bar_ = std::make_unique<Progress>(total, "steps", mode_);
    stage_ = stage;
  }
  bar_->update(done, words_ + stage);
  if (done >= total) bar_.reset();
}

std::string progress_line(double fraction, double per_second, double seconds_left,
                          const std::string& unit, const std::string& words, int columns) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * fraction);
  std::string text = percent;
  if (per_second > 0) {
    text += "  " + readable(per_second) + " " + unit + "/s";
    if (fraction < 1) text += "  " + readable_seconds(std::max(1.0, seconds_left)) + " left";
  }
  if (!words.empty()) text += "  " + words;
  const int room = std::min(30, columns - static_cast<int>(text.size()) - 5);
  if (room >= 8) {
    const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * room);
    text = "[" + std::string(filled, '#') + std::string(room - filled, '.') + "] " + text;
  }
  return text.substr(0, static_cast<std::size_t>(std::max(1, columns - 1)));
}

Progress::Progress(std::int64_t total, std::string unit, Mode mode, std::int64_t done)
    : total_(std::max<std::int64_t>(1, total)),
      begin_(done),
      done_(done),
      unit_(std::move(unit)),
      mode_(mode),
      start_(Clock::now()),
      drawn_(start_) {
  if (mode_ == Mode::kAuto) mode_ = ::isatty(STDERR_FILENO) ? Mode::kBar : Mode::kLines;
}

Progress::~Progress() { finish(); }

void Progress::update(std::int64_t done, const std::string& words) {
  done_ = done;
  words_ = words;
  const double wait = mode_ == Mode::kBar ? kBarSeconds : kLineSeconds;
  if (std::chrono::duration<double>(Clock::now() - drawn_).count() >= wait) draw();
}

void Progress::draw() {
  if (mode_ == Mode::kQuiet) return;
  drawn_ = Clock::now();
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_ - begin_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
  const bool bar = mode_ == Mode::kBar;
  const std::string line =
      progress_line(fraction, rate, left, unit_, words_, bar ? terminal_columns() : 200);
  if (bar) {
    std::cerr << "\r\033[K" << line << std::flush;
    open_ = true;
  } else {
    std::cerr << line << std::endl;
  }
}

void Progress::message(const std::string& text) {
  if (mode_ == Mode::kQuiet) return;
  if (open_) std::cerr << "\r\033[K";
  std::cerr << text << std::endl;
  if (open_) draw();
}

void Progress::finish() {
  if (mode_ == Mode::kBar && (open_ || done_ > begin_)) draw();
  if (open_) std::cerr << std::endl;
  open_ = false;
  mode_ = Mode::kQuiet;
}

}  // namespace cpl
