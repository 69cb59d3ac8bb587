// The part of the trainer that is about the run's directory: beginning, going on, saving.

#include <torch/torch.h>

#include <filesystem>

#include "cplearn/base/config.h"
#include "cplearn/base/file.h"
#include "cplearn/train/checkup.h"
#include "cplearn/train/remedy.h"
#include "cplearn/train/trainer.h"

namespace cpl {
namespace {

using Clock = std::chrono::steady_clock;

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  CPL_CHECK(!error, "cannot make the directory ", path, ": ", error.message(),
            "; choose another --out");
}

NamedTensors as_tensors(const std::map<std::string, double>& values) {
  NamedTensors result;
  for (const auto& [name, value] : values) result[name] = torch::tensor(value, torch::kDouble);
  return result;
}

bool same_shapes(const NamedTensors& a, const NamedTensors& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) {
           return x.first == y.first && x.second.sizes() == y.second.sizes();
         });
}

std::map<std::string, double> as_numbers(const NamedTensors& tensors) {
  std::map<std::string, double> result;
  for (const auto& [name, tensor] : tensors) result[name] = tensor.item<double>();
  return result;
}

// Never kAuto: a run keeps what it began with, wherever it goes on.
Precision settled_precision(const TrainOptions& options) {
  return resolve_bf16(options) ? Precision::kBf16 : Precision::kFp32;
}

}  // namespace

void Trainer::start() {
  CPL_CHECK(!file_exists(files_.config()) && !file_exists(files_.checkpoint()), files_.directory,
            " already holds a run: go on with --resume ", files_.directory,
            ", or choose another --out");
  make_directories(files_.directory);
  options_.precision = settled_precision(options_);
  write_file(files_.config(), run_config_text({options_, session_}));
  resume(false);
}

void Trainer::resume(bool override_settings) {
  const bool begun = file_exists(files_.checkpoint());
  CPL_CHECK(begun || file_exists(files_.config()), "there is no run in ", files_.directory,
            ": give the directory that 'cplearn train' printed, or start one with --out");
  const auto check_settings = [&](const std::string& text, const std::string& source) {
    TrainOptions saved = parse_run_config(text, source).train;
    saved.precision = settled_precision(saved);  // runs of version 0.1 saved "auto"
    if (options_.precision == Precision::kAuto) options_.precision = saved.precision;
    const std::string changes = differences(list_options(saved), list_options(options_));
    CPL_CHECK(changes.empty() || override_settings, "the settings differ from those of the run in ",
              files_.directory, ":\n", changes,
              "Leave them as they were, start another run with --out, or insist with --override.");
    if (!changes.empty()) messages_.push_back("settings were changed:\n" + changes);
  };
  if (begun) {
    const Checkpoint saved = load_checkpoint(files_.checkpoint());
    check_recovery(saved);
    check_settings(saved.config, files_.checkpoint());
    check_images(saved, override_settings);
    restore(saved);
    if (override_settings) save();  // or the next resume would compare with the old settings
    const std::string facts = changed_facts(saved.facts, current_facts());
    if (!facts.empty()) messages_.push_back(facts);
  } else {
    check_settings(read_file(files_.config()), files_.config());
  }
  method_->set_encoding({options_.accumulate, resolve_bf16(options_)});
  write_file(files_.config(), run_config_text({options_, session_}));
  metrics_ = std::make_unique<MetricsFile>(files_.metrics(), step_);
  if (session_.tensorboard) tensorboard_ = std::make_unique<TensorboardFile>(files_.directory);
  if (!finished())
    loader_->seek(static_cast<std::uint32_t>(step_ / per_epoch_),
                  static_cast<std::size_t>(step_ % per_epoch_));
  method_->train();
  last_lap_ = last_save_ = Clock::now();
}

// A run that was killed while it recovered has a checkpoint with the new settings and a config.toml
// with the old ones.
void Trainer::check_recovery(const Checkpoint& saved) const {
  const auto count = saved.tensors.find("recoveries.count");
  if (count == saved.tensors.end() || count->second.item<double>() == 0) return;
  const TrainOptions now = parse_run_config(saved.config, files_.checkpoint()).train;
  const TrainOptions stale = parse_run_config(read_file(files_.config()), files_.config()).train;
  if (changes(stale, now).empty()) return;
  write_file(files_.config(), saved.config);
  throw Error(str("the run in ", files_.directory, " was stopped while it recovered from a ",
                  "collapse; its config.toml has been put right: the same command goes on now"));
}

// Another number of images moves the place in the epoch and the end of the schedule.
void Trainer::check_images(const Checkpoint& saved, bool override_settings) const {
  const auto before = saved.facts.find("images");
  CPL_CHECK(override_settings || before == saved.facts.end() ||
                before->second == std::to_string(dataset_->size()),
            "the data ", options_.data, " had ", before->second,
            " images when this run was saved "
            "and has ",
            dataset_->size(),
            " now: put them back, start another run with --out, or "
            "insist with --override");
}

Checkpoint Trainer::checkpoint() const {
  Checkpoint result;
  result.step = step_;
  result.config = run_config_text({options_, session_});
  result.normalisation = augment_.normalisation.name;
  result.facts = current_facts();
  result.facts["images"] = std::to_string(dataset_->size());
  const auto put = [&result](const std::string& prefix, const NamedTensors& tensors) {
    result.tensors.merge(add_prefix(tensors, prefix));
  };
  put("method.", module_state(*method_));
  put("optimizer.", optimizer_->state());
  put("monitor.", module_state(*monitor_));
  if (probe_) {
    put("probe.", module_state(*probe_));
    put("probe_optimizer.", probe_->optimizer().state());
  }
  put("averages.interval.", as_tensors(interval_.state()));
  put("averages.epoch.", as_tensors(epoch_.state()));
  put("averages.last.", as_tensors(last_.state()));
  put("averages.", as_tensors({{"best", best_loss_}, {"test", status_.test_accuracy}}));
  put("recoveries.", as_tensors({{"count", static_cast<double>(recoveries_)},
                                 {"was_collapsed", was_collapsed_ ? 1.0 : 0.0}}));
  put("random.", {{"torch", torch_random_state()}});
  return result;
}

void Trainer::restore(const Checkpoint& saved) {
  const NamedTensors& tensors = saved.tensors;
  const auto get = [&tensors](const char* prefix) { return with_prefix(tensors, prefix); };
  CPL_CHECK(saved.step <= steps_, "the checkpoint is at step ", saved.step,
            " and these settings end at ", steps_, ": ask for more --epochs");
  copy_tensors(get("method."), module_state(*method_));
  optimizer_->load_state(get("optimizer."));
  monitor_->load_state(get("monitor."));
  if (probe_) {
    copy_tensors(get("probe."), module_state(*probe_));
    probe_->optimizer().load_state(get("probe_optimizer."));
  }
  interval_.load_state(as_numbers(get("averages.interval.")));
  epoch_.load_state(as_numbers(get("averages.epoch.")));
  last_.load_state(as_numbers(get("averages.last.")));
  for (const char* name : {"averages.best", "averages.test", "random.torch"})
    CPL_CHECK(tensors.count(name), files_.checkpoint(), " has no ", name);
  best_loss_ = tensors.at("averages.best").item<double>();
  status_.test_accuracy = tensors.at("averages.test").item<double>();
  const auto recoveries = tensors.find("recoveries.count");  // version 0.1 had none
  if (recoveries != tensors.end()) {
    recoveries_ = recoveries->second.item<std::int64_t>();
    was_collapsed_ = tensors.at("recoveries.was_collapsed").item<double>() > 0;
  }
  set_torch_random_state(tensors.at("random.torch"));
  step_ = saved_step_ = saved.step;
  status_.position = {step_, steps_, step_ / per_epoch_, options_.epochs};
  show_last();
}

// Back to where the run was healthy, or to its beginning, with what the remedies change.
void Trainer::recover() {
  const std::int64_t from = step_, done = recoveries_;
  const TrainOptions before = options_;
  const bool was_healthy = file_exists(files_.healthy());
  const Checkpoint healthy = was_healthy ? load_checkpoint(files_.healthy()) : Checkpoint();
  options_ = with_remedies(before, remedies(before));
  build_network();
  if (was_healthy &&
      !same_shapes(with_prefix(healthy.tensors, "method."), module_state(*method_))) {
    options_ = with_remedies(before, {});  // remedies that change the network are for a new run
    build_network();
  }
  interval_.reset();
  epoch_.reset();
  last_.reset();
  status_.test_accuracy = -1;
  step_ = 0;
  status_.position = {0, steps_, 0, options_.epochs};
  if (was_healthy) restore(healthy);
  show_last();
  recoveries_ = done + 1;
  best_loss_ = 1e300;  // losses of other settings are not to be compared
  was_collapsed_ = has_news_ = status_.judged = status_.collapsing = false;
  method_->set_encoding({options_.accumulate, resolve_bf16(options_)});
  method_->train();
  loader_->seek(static_cast<std::uint32_t>(step_ / per_epoch_),
                static_cast<std::size_t>(step_ % per_epoch_));
  const std::string words = str("step ", from, ": ", last_verdict_, ". Went on from step ", step_,
                                " with safer settings: ", remedy_words(changes(before, options_)));
  last_verdict_.clear();
  save();  // what resume() puts right if the rest does not happen
  write_file(files_.config(), run_config_text({options_, session_}));
  metrics_ = std::make_unique<MetricsFile>(files_.metrics(), step_);
  metrics_->append({{"step", step_}, {"advice", {words}}});
  messages_.push_back(words);
}

void Trainer::save() {
  if (workers_.rank() == 0) save_checkpoint(files_.checkpoint(), checkpoint());
  saved_step_ = step_;
  last_save_ = Clock::now();
}

MetricsLine Trainer::finish() {
  if (!status_.judged) judge_now();
  MetricsLine summary = {{"run", files_.directory},
                         {"epochs", static_cast<double>(step_) / per_epoch_},
                         {"steps", step_},
                         {"images_per_second", status_.images_per_second()},
                         {"loss", status_.loss}};
  for (const auto& [name, value] : status_.terms) summary[name] = value;
  if (status_.probe_accuracy >= 0) summary["probe_accuracy"] = status_.probe_accuracy;
  if (status_.test_accuracy >= 0) summary["test_accuracy"] = status_.test_accuracy;
  summary["bad_images"] = dataset_->bad_files().size();
  summary["finished"] = finished();
  if (recoveries_ > 0) summary["recoveries"] = recoveries_;
  put_health(summary);
  if (finished()) summary["verdict_record"] = verdict_record(status_.judgement);
  if (workers_.rank() == 0) write_file(files_.summary(), summary.dump(2) + "\n");
  return summary;
}

}  // namespace cpl
