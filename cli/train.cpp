// cplearn train: what it takes, and the settings that come of it.

#include <filesystem>

#include "cli/engine.h"
#include "cli/help.h"
#include "cplearn/base/config.h"
#include "cplearn/base/file.h"

namespace cpl::cli {
namespace {

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

struct Given {
  TrainArguments arguments;
  std::string config_file;
};

// Whether a file is there and gives its bytes only once, as --config <(...) does.
bool is_read_once(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// The method's defaults < the run that is resumed < file < command line.
void settle(const CLI::App& app, const Given& given_here, TrainArguments& settled) {
  const TrainArguments& arguments = given_here.arguments;
  std::vector<ConfigLayer> layers;
  const auto add_file = [&layers](const std::string& path) {
    layers.push_back({path, parse_config(read_file(path), path)});
  };
  if (!arguments.resume.empty()) {
    const RunFiles files(arguments.resume);
    CPL_CHECK(file_exists(files.config()), "there is no run in ", arguments.resume,
              ": give the directory that 'cplearn train' printed, or start one with --out");
    layers.push_back(
        {files.config(), parse_saved_config(read_file(files.config()), files.config())});
  }
  if (!given_here.config_file.empty()) add_file(given_here.config_file);
  layers.push_back({"the command line", {}});
  for (const auto& [name, value] : given(app, arguments.config.train))
    layers.back().values[name] = value;
  for (const auto& [name, value] : given(app, arguments.config.session))
    layers.back().values[name] = value;
  settled.config = settle_config(layers);
  const std::string& method = settled.config.train.method;
  layers.push_back({method, parse_config(find_method(method).defaults, method)});
  for (const ConfigLayer& layer : layers) {
    for (const auto& [name, value] : layer.values) settled.written.insert(name);
  }
}

}  // namespace

Run declare_train(CLI::App& app) {
  auto given_here = std::make_shared<Given>();
  TrainArguments& arguments = given_here->arguments;
  arguments.config.train.visit(AddOptions(app));
  arguments.config.session.visit(AddOptions(app));
  app.add_option("--minutes", arguments.minutes,
                 "train about so long: --epochs follow from the speed on this machine")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--config", given_here->config_file,
                 "file of settings, 'name = value' with the names of these options");
  app.add_option("--out", arguments.out, "directory of the run; runs/METHOD-N if not given");
  app.add_option("--resume", arguments.resume, "go on with the run in this directory, exactly");
  app.add_flag("--override", arguments.override_settings,
               "with --resume: accept settings other than the run's");
  app.add_flag("--strict", arguments.strict,
               "stop with exit code 3 when a collapse forms, instead of recovering");
  show_first(app,
             {"data", "method", "backbone", "image-size", "augment", "codes", "batch", "epochs",
              "minutes", "lr", "test", "config", "out", "resume", "threads", "seed"});
  return [given_here, &app](const Common& common) {
    TrainArguments settled_arguments = given_here->arguments;
    CPL_CHECK(settled_arguments.resume.empty() || settled_arguments.out.empty() ||
                  settled_arguments.out == settled_arguments.resume,
              "--out and --resume name different directories: a run goes on where it is");
    // The front leaves such a file to the engine, which will read it again.
    if (is_read_once(given_here->config_file)) engine();
    settle(app, *given_here, settled_arguments);
    return engine().train(settled_arguments, common);
  };
}

}  // namespace cpl::cli
