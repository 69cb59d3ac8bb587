// cplearn train: parses settings, drives the trainer, shows what happens, stops when told to.

#include <ATen/Parallel.h>

#include <thread>

#include "cli/command.h"
#include "cli/signals.h"
#include "cplearn/base/config.h"
#include "cplearn/base/file.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/train/trainer.h"

namespace cpl::cli {
namespace {

struct Arguments {
  RunConfig run;
  std::string config, out, resume;
  bool override_settings = false;
  bool strict = false;
};

// "runs/cplearn-1", the first that is free.
std::string next_directory(const std::string& method) {
  for (int i = 1;; ++i) {
    const std::string path = str("runs/", method, "-", i);
    if (!file_exists(path)) return path;
  }
}

// Options that were written on the command line, by name and value.
template <class Options>
std::vector<std::pair<std::string, std::string>> given(const CLI::App& app,
                                                       const Options& options) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const OptionText& option : list_options(options)) {
    if (app.get_option("--" + option.name)->count() > 0)
      result.emplace_back(option.name, option.value);
  }
  return result;
}

// The method's defaults < the run that is resumed < file < command line.
RunConfig settle(const CLI::App& app, const Arguments& arguments) {
  std::vector<ConfigLayer> layers;
  const auto add_file = [&layers](const std::string& path) {
    layers.push_back({path, parse_config(read_file(path), path)});
  };
  if (!arguments.resume.empty()) {
    const RunFiles files(arguments.resume);
    CPL_CHECK(file_exists(files.config()), "there is no run in ", arguments.resume,
              ": give the directory that 'cplearn train' printed, or start one with --out");
    add_file(files.config());
  }
  if (!arguments.config.empty()) add_file(arguments.config);
  layers.push_back({"the command line", {}});
  for (const auto& [name, value] : given(app, arguments.run.train))
    layers.back().values[name] = value;
  for (const auto& [name, value] : given(app, arguments.run.session))
    layers.back().values[name] = value;
  return settle_config(layers);
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
  if (status.judged && status.vitals.usage > 0)
    text += "  codes " + readable(std::round(status.vitals.usage));
  if (status.probe_accuracy >= 0)
    text += str("  probe ", readable(std::round(1000 * status.probe_accuracy) / 10), "%");
  return text;
}

void print_summary(const Trainer& trainer, const MetricsLine& summary, const Common& common) {
  TextTable table({"result", "value"});
  for (const auto& [name, value] : summary.items()) {
    if (name == "run" || name == "finished" || name == "advice") continue;
    if (name == "bad_images" && value == 0) continue;
    table.add({name, value.is_number_float() ? readable(value.get<double>())
                     : value.is_string()     ? value.get<std::string>()
                                             : value.dump()});
  }
  common.say() << "\n" << table.str();
  for (const std::string& advice : trainer.status().health.advice)
    common.say() << "! " << advice << "\n";
  const std::vector<BadFile> bad = trainer.dataset().bad_files();
  for (std::size_t i = 0; i < bad.size() && i < 5; ++i)
    common.say() << "! " << printable(bad[i].file + ": " + bad[i].reason) << "\n";
  if (bad.size() > 5)
    common.say() << "! ... " << bad.size()
                 << " bad images in all; 'cplearn data verify' lists them\n";
}

int train(const CLI::App& app, const Arguments& arguments, const Common& common) {
  const bool resuming = !arguments.resume.empty();
  CPL_CHECK(!resuming || arguments.out.empty() || arguments.out == arguments.resume,
            "--out and --resume name different directories: a run goes on where it is");
  const RunConfig config = settle(app, arguments);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  at::set_num_threads(config.session.threads > 0 ? config.session.threads : cores);
  const std::string directory = resuming                ? arguments.resume
                                : arguments.out.empty() ? next_directory(config.train.method)
                                                        : arguments.out;
  catch_signals();
  Trainer trainer(directory, config.train, config.session);
  if (resuming) {
    trainer.resume(arguments.override_settings);
  } else {
    trainer.start();
  }
  common.say() << config.train.method << own_settings(config.train) << " on " << config.train.data
               << " (" << trainer.dataset().size() << " images), " << config.train.backbone
               << ", into " << directory
               << (resuming ? str(", from step ", trainer.status().position.step) : "") << "\n";

  const Position first = trainer.status().position;
  const std::int64_t batch = config.train.batch;
  std::int64_t stop_at =
      config.session.stop_after > 0 ? first.step + config.session.stop_after : first.steps;
  {
    Progress progress(first.steps * batch, "images", common.progress(), first.step * batch);
    const auto pass_on_messages = [&] {
      for (const std::string& text : trainer.take_messages())
        progress.message("! " + printable(text));
    };
    pass_on_messages();
    while (!stop_requested() && trainer.status().position.step < stop_at && trainer.step()) {
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
  return arguments.strict && trainer.status().health.collapsed ? kCollapsed : kSuccess;
}

}  // namespace

Run declare_train(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  arguments->run.train.visit(AddOptions(app));
  arguments->run.session.visit(AddOptions(app));
  app.add_option("--config", arguments->config,
                 "file of settings, 'name = value' with the names of these options");
  app.add_option("--out", arguments->out, "directory of the run; runs/METHOD-N if not given");
  app.add_option("--resume", arguments->resume, "go on with the run in this directory, exactly");
  app.add_flag("--override", arguments->override_settings,
               "with --resume: accept settings other than the run's");
  app.add_flag("--strict", arguments->strict, "exit with code 3 if the result is collapsed");
  return [arguments, &app](const Common& common) { return train(app, *arguments, common); };
}

}  // namespace cpl::cli
