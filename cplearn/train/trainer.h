#pragma once
// Trains a method on a data set and keeps its run directory. The caller drives it, one step at a
// time, and shows what it wants to show:
//
//   Trainer trainer("runs/mine", options, session);
//   trainer.start();                 // or resume()
//   while (trainer.step()) show(trainer.status());
//   trainer.finish();
//
// Data order, views, learning rate and weight of everything are pure functions of the step; what
// is left of state is in the checkpoint. So a run that was killed and resumed ends with the same
// bits as one that was not.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cplearn/data/loader.h"
#include "cplearn/eval/judge.h"
#include "cplearn/nn/optim/optimizer.h"
#include "cplearn/train/metrics.h"
#include "cplearn/train/monitor.h"
#include "cplearn/train/probe.h"
#include "cplearn/train/run.h"

namespace cpl {

// Seconds of this session, by what they were spent on.
struct PartTimes {
  double data = 0;  // waiting for the loader
  double forward = 0;
  double head = 0;  // the method's own part of the forward pass
  double backward = 0;
  double optimizer = 0;
  double other = 0;  // probe, monitor, logs, checkpoints

  double sum() const { return data + forward + head + backward + optimizer + other; }
};

struct Status {
  Position position;  // the step that comes next
  double loss = 0;    // means over the last log interval, as the terms
  std::vector<std::pair<std::string, double>> terms;
  double learning_rate = 0;
  double probe_accuracy = -1;  // online, on training views; -1: no labels
  double test_accuracy = -1;   // of the probe on --test, after the last epoch; -1: none
  std::int64_t images = 0;     // of this session
  PartTimes times;
  VitalSigns signs;
  Judgement judgement;
  bool judged = false;      // these are known
  bool collapsing = false;  // judged as collapsed twice in a row, not counting the beginning

  double images_per_second() const { return images > 0 ? images / times.sum() : 0; }
};

class Trainer {
 public:
  // Opens the data and builds the network; writes nothing. Throws cpl::Error.
  Trainer(const std::string& directory, const TrainOptions& options, const SessionOptions& session);
  Trainer(const std::string& directory, const TrainOptions& options, const SessionOptions& session,
          WorkerGroup& workers);

  // A new run: the directory must not hold one.
  void start();
  // Goes on after the last checkpoint, or from the beginning if there is none yet. Settings other
  // than the run's are refused with the difference, unless `override_settings`.
  void resume(bool override_settings);

  // One optimiser step, with its logs and checkpoints. False, and nothing done, after the last.
  bool step();
  void save();
  // Judges, and writes and returns summary.json. Call after the last step of a session.
  MetricsLine finish();

  void never_recover() { may_recover_ = false; }  // whatever the settings say

  bool finished() const { return step_ >= steps_; }
  const Status& status() const { return status_; }
  Method& method() { return *method_; }
  const Dataset& dataset() const { return *dataset_; }
  const std::string& directory() const { return files_.directory; }

  // What people should know (preflight, changes since the checkpoint, collapses), once each.
  std::vector<std::string> take_messages();

 private:
  void open_data();
  void check_recovery(const Checkpoint& saved) const;
  void check_images(const Checkpoint& saved, bool override_settings) const;
  Views to_views(const Batch& batch) const;
  [[noreturn]] void stop_for(const std::string& what) const;
  StepResult forward();
  void update();
  void observe(const StepResult& result, double loss, const Batch& batch);
  void end_of_step(bool end_of_epoch);
  void build_network();
  void judge_now();
  void decide(const VitalSigns& now, const VitalSigns& before);
  std::vector<std::string> advice() const;  // a sentence for each collapse, and what to change
  void recover();
  bool just_begun() const;  // then a network looks collapsed and is not
  void log_line(bool end_of_epoch);
  void put_health(MetricsLine& line) const;
  void show_last();
  double score_on_test();
  Checkpoint checkpoint() const;
  void restore(const Checkpoint& checkpoint);
  double lap();

  RunFiles files_;
  TrainOptions options_;
  SessionOptions session_;
  WorkerGroup alone_;
  WorkerGroup& workers_;
  at::Device device_;

  std::unique_ptr<Dataset> dataset_, test_;
  AugmentOptions augment_;
  std::unique_ptr<Loader> loader_;
  Batch batch_;

  std::shared_ptr<Method> method_;
  std::unique_ptr<Optimizer> optimizer_;
  std::shared_ptr<Probe> probe_;  // null without labels
  std::shared_ptr<Monitor> monitor_;
  Schedule schedule_;
  std::int64_t step_ = 0, steps_ = 0, per_epoch_ = 0;

  Averages interval_, epoch_, last_;  // last_: the interval that was logged last
  double best_loss_ = 1e300;
  std::unique_ptr<MetricsFile> metrics_;
  std::unique_ptr<TensorboardFile> tensorboard_;
  Status status_;
  std::vector<std::string> messages_;
  std::string last_verdict_;
  bool was_collapsed_ = false;  // by the last judgement after the beginning
  bool has_news_ = false;       // judged since the last line of the log
  std::int64_t recoveries_ = 0;
  bool may_recover_;
  std::chrono::steady_clock::time_point last_lap_, last_save_;
  std::int64_t saved_step_ = -1;
};

}  // namespace cpl
