#pragma once
// One run of an experiment: trained, scored, looked at; in a directory that several processes and
// machines may work on. A cell that was interrupted goes on exactly, one that is finished is never
// run again.
//
//   CELL/               a run directory (train/run.h)
//   CELL/cell.json      its numbers; written last, so that it says "finished"
//   CELL/lock           held by whoever works on it (base/file_lock.h)

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cplearn/base/progress.h"
#include "cplearn/study/experiment.h"
#include "cplearn/train/run.h"

namespace cpl {

// Settings of a cell besides those of `cplearn train`.
struct CellOptions {
  std::string data = "shapes";
  std::string label;
  std::string alter;
  std::int64_t images = 0;
  std::int64_t test_images = 0;
  std::int64_t steps = 0;
  bool online_test = false;
  bool evaluate = true;
  bool paper_probe = false;
  bool diagnose = false;
  bool full_entropy = false;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("data", data, "name of a data set; where it is, --data-dir says");
    v("label", label, "what tables call the cell's row");
    v("alter", alter, "make the images worse: a name from data/alteration.h, or nothing");
    v("images", images, "images to learn from, chosen by the seed; 0: all", AtLeast{0});
    v("test-images", test_images, "images to score on, chosen by the seed; 0: all", AtLeast{0});
    v("steps", steps, "stop after so many steps, to measure time and storage; 0: at the end",
      AtLeast{0});
    v("online-test", online_test, "score the online probe on the test images after each epoch");
    v("evaluate", evaluate, "score the result as 'cplearn eval' does");
    v("paper-probe", paper_probe, "the paper's probe (Adam 1e-2, 100 epochs)");
    v("diagnose", diagnose, "look for collapses as 'cplearn diagnose' does; figures need it");
    v("full-entropy", full_entropy, "with diagnose: mixtures of up to 1000 components");
  }
};

// Where data sets are: DIR/NAME, or DIR itself when it holds the files.
class DataFolder {
 public:
  explicit DataFolder(std::string directory) : directory_(std::move(directory)) {}

  // "cifar10:DIR/cifar10", or "" if there is no such data set; looks once for each name.
  const std::string& find(const std::string& name);
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
  std::map<std::string, std::string> found_;
};

// What a cell's settings mean. `place` is what DataFolder::find found. Throws cpl::Error for
// unknown settings.
struct CellConfig {
  CellOptions cell;
  RunConfig run;
  std::string test;  // data to score on
};
CellConfig resolve_cell(const Cell& cell, const std::string& place);

// The settings that make the result, as text; where the data lie does not.
std::string settings_text(const CellConfig& config);

enum class CellState { kFinished, kWasFinished, kBusy, kStopped };

struct CellSession {
  int threads = 0;
  Progress::Mode progress = Progress::Mode::kAuto;
  std::string words;                // before the progress of this cell
  std::function<bool()> must_stop;  // asked after each step: save and return
};

// Throws cpl::Error when the cell fails.
CellState run_cell(const std::string& directory, const Cell& cell, const CellConfig& config,
                   const CellSession& session);

// cell.json, or null if the cell is not finished.
nlohmann::ordered_json finished_cell(const std::string& directory);

// Seconds that a training step of these settings takes here, from a few images of noise.
double estimate_step_seconds(const TrainOptions& options);

}  // namespace cpl
