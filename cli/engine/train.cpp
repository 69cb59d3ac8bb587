// cplearn train: parses settings, drives the trainer, shows what happens, stops when told to.

#include <ATen/Parallel.h>

#include "cli/engine/commands.h"
#include "cli/engine/signals.h"
#include "cli/engine/temporary_folder.h"
#include "cplearn/base/config.h"
#include "cplearn/base/file.h"
#include "cplearn/base/machine.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/train/data_defaults.h"
#include "cplearn/train/trainer.h"

namespace cpl::cli {
namespace {

// "runs/cplearn-1", the first that is free.
std::string next_directory(const std::string& method) {
  for (int i = 1;; ++i) {
    const std::string path = str("runs/", method, "-", i);
    if (!file_exists(path)) return path;
  }
}

// " (codes 3000, hidden 2048)": the settings for which the method has defaults of its own.
std::string own_settings(const TrainOptions& options) {
  const auto own = parse_config(find_method(options.method).defaults, options.method);
  std::string text;
  for (const OptionText& option : list_options(options)) {
    if (own.count(option.name) > 0)
      text += str(text.empty() ? " (" : ", ", option.name, " ", option.value);
  }
  return text.empty() ? "" : text + ")";
}

std::string words(const Status& status) {
  std::string text = str("epoch ", std::min(status.position.epoch + 1, status.position.epochs), "/",
                         status.position.epochs);
  if (!status.terms.empty()) text += "  loss " + readable(status.loss);
  if (status.judged && status.signs.used > 0)
    text += "  codes " + readable(std::round(status.signs.used));
  if (status.probe_accuracy >= 0)
    text += str("  probe ", readable(std::round(1000 * status.probe_accuracy) / 10), "%");
  return text;
}

void print_summary(const Trainer& trainer, const MetricsLine& summary, const Common& common) {
  TextTable table({"result", "value"});
  for (const auto& [name, value] : summary.items()) {
    if (name == "run" || name == "finished" || name == "advice" || name == "verdict_record")
      continue;
    if (name == "bad_images" && value == 0) continue;
    table.add({name, value.is_number_float() ? readable(value.get<double>())
                     : value.is_string()     ? value.get<std::string>()
                                             : value.dump()});
  }
  common.say() << "\n" << table.str();
  if (const std::string record = summary.value("verdict_record", ""); !record.empty())
    common.say() << "How sure is the verdict? " << record << " (docs/judge.md).\n";
  for (const auto& words : summary.value("advice", std::vector<std::string>()))
    common.say() << "! " << words << "\n";
  const std::vector<BadFile> bad = trainer.dataset().bad_files();
  for (std::size_t i = 0; i < bad.size() && i < 5; ++i)
    common.say() << "! " << printable(bad[i].file + ": " + bad[i].reason) << "\n";
  if (bad.size() > 5)
    common.say() << "! ... " << bad.size()
                 << " bad images in all; 'cplearn data verify' lists them\n";
}

// Images per second of a training that is thrown away.
double measured_speed(const RunConfig& config) {
  constexpr int kWarmUp = 3, kSteps = 30;
  constexpr double kSeconds = 5;
  const TemporaryFolder folder;
  TrainOptions options = config.train;
  options.epochs = 1 + (kWarmUp + kSteps);  // however few images there are, it does not end
  Trainer trainer(folder.path + "/speed", options, config.session);
  trainer.start();
  trainer.never_recover();
  for (int i = 0; i < kWarmUp; ++i) trainer.step();
  const auto start = std::chrono::steady_clock::now();
  double seconds = 0;
  int steps = 0;
  while (!stop_requested() && steps < kSteps && seconds < kSeconds && trainer.step()) {
    ++steps;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return static_cast<double>(steps * options.batch) / std::max(seconds, 1e-9);
}

// What nobody wrote follows from the images and the time there is.
void choose_settings(const TrainArguments& arguments, const Common& common, RunConfig& config) {
  DatasetOptions options;
  options.seed = config.train.seed;
  const auto data = open_dataset(config.train.data, options);
  const DataLook look = look_at(*data);
  suit_data(look, arguments.written, config.train);
  common.say() << look.images << " images, " << look.side
               << " pixels or so on the shorter side: " << describe(config.train) << "\n";
  if (arguments.written.count("epochs") > 0) return;
  const double speed = measured_speed(config);
  config.train.epochs = epochs_in(arguments.minutes, speed, look.images);
  common.say() << readable(std::round(speed)) << " images/s here: " << config.train.epochs
               << (config.train.epochs == 1 ? " epoch" : " epochs") << ", about "
               << readable(std::ceil(static_cast<double>(config.train.epochs * look.images) /
                                     speed / 60))
               << " minutes (--minutes, --epochs)\n";
}

}  // namespace

int run_train(const TrainArguments& arguments, const Common& common) {
  const bool resuming = !arguments.resume.empty();
  RunConfig config = arguments.config;
  at::set_num_threads(thread_count(config.session.threads));
  const std::string directory = resuming                ? arguments.resume
                                : arguments.out.empty() ? next_directory(config.train.method)
                                                        : arguments.out;
  catch_signals();
  if (!resuming) choose_settings(arguments, common, config);
  Trainer trainer(directory, config.train, config.session);
  if (resuming) {
    trainer.resume(arguments.override_settings);
  } else {
    trainer.start();
  }
  if (arguments.strict) trainer.never_recover();
  common.say() << config.train.method << own_settings(config.train) << " on " << config.train.data
               << " (" << trainer.dataset().size() << " images), " << config.train.backbone
               << ", into " << directory
               << (resuming ? str(", from step ", trainer.status().position.step) : "") << "\n";

  const Position first = trainer.status().position;
  const std::int64_t batch = config.train.batch;
  std::int64_t steps_left =  // of this session: a training that recovers takes some twice
      config.session.stop_after > 0 ? config.session.stop_after
                                    : std::numeric_limits<std::int64_t>::max();
  {
    Progress progress(first.steps * batch, "images", common.progress(), first.step * batch);
    const auto pass_on_messages = [&] {
      for (const std::string& text : trainer.take_messages())
        progress.message("! " + printable(text));
    };
    pass_on_messages();
    const auto must_stop = [&] {
      return stop_requested() || (arguments.strict && trainer.status().collapsing);
    };
    while (!must_stop() && steps_left-- > 0 && trainer.step()) {
      progress.update(trainer.status().position.step * batch, words(trainer.status()));
      pass_on_messages();
    }
  }
  if (!trainer.finished()) trainer.save();
  const MetricsLine summary = trainer.finish();
  print_summary(trainer, summary, common);
  if (!trainer.finished()) {
    std::cerr << "Saved at step " << trainer.status().position.step << " of " << first.steps
              << ". Go on with: cplearn train --resume " << directory << "\n";
  }
  common.result(summary);
  const bool collapsed = summary["verdict"].get<std::string>().rfind("collapsed", 0) == 0;
  return arguments.strict && collapsed ? kCollapsed : kSuccess;
}

}  // namespace cpl::cli
