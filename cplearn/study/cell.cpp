#include "cplearn/study/cell.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cplearn/base/config.h"
#include "cplearn/base/file.h"
#include "cplearn/base/file_lock.h"
#include "cplearn/base/table.h"
#include "cplearn/study/evaluation.h"
#include "cplearn/study/run_diagnosis.h"
#include "cplearn/train/trainer.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1 << 20;  // what the paper's tables call MB

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string spec(const std::string& place, const char* split, std::int64_t images) {
  if (place == "shapes") return str(place, images > 0 ? str(":", images) : "", "@", split);
  return str(place, "@", split, images > 0 ? str("#", images) : "");
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string progress_words(const CellSession& session, const Status& status) {
  std::string text =
      str(session.words, " epoch ", std::min(status.position.epoch + 1, status.position.epochs),
          "/", status.position.epochs);
  if (!status.terms.empty()) text += "  loss " + readable(status.loss);
  return text;
}

struct Training {
  bool complete = false;
  std::vector<double> seconds;  // of each step of this session
  std::int64_t planned = 0;     // steps of the whole run
};

Training train(const std::string& directory, const CellConfig& config, const CellSession& session) {
  Trainer trainer(directory, config.run.train, config.run.session);
  if (file_exists(RunFiles(directory).config())) {
    trainer.resume(false);
  } else {
    trainer.start();
  }
  const Position first = trainer.status().position;
  const std::int64_t end =
      config.cell.steps > 0 ? std::min(config.cell.steps, first.steps) : first.steps;
  const std::int64_t batch = config.run.train.batch;
  Training result;
  result.planned = first.steps;
  {
    Progress progress(end * batch, "images", session.progress, first.step * batch);
    auto last = Clock::now();
    while (trainer.status().position.step < end && !session.must_stop() && trainer.step()) {
      result.seconds.push_back(seconds_since(last));
      last = Clock::now();
      progress.update(trainer.status().position.step * batch,
                      progress_words(session, trainer.status()));
    }
  }
  result.complete = trainer.status().position.step >= end;
  if (!trainer.finished() && !result.seconds.empty()) trainer.save();
  if (!result.seconds.empty() || !file_exists(RunFiles(directory).summary())) trainer.finish();
  return result;
}

// diagnosis.json and gallery.json, from which figures are drawn; their numbers for the table.
void diagnose(const std::string& directory, const CellConfig& config, const CellSession& session,
              Json& numbers) {
  DiagnosisOptions options;
  options.seed = config.run.train.seed;
  options.full = config.cell.full_entropy;
  options.padded = true;
  StageProgress bars(session.progress, session.words + " diagnosis: ");
  const RunDiagnosis found =
      diagnose_saved_run(directory, config.test, options, true,
                         [&](const char* what, std::int64_t done, std::int64_t total) {
                           bars.update(what, done, total);
                         });
  write_run_diagnosis(found, directory);
  const Json statistics = to_json(found.diagnosis).value("statistics", Json::object());
  if (!statistics.contains("representation")) return;
  numbers["feature_mean"] = statistics["representation"]["mean"];
  numbers["feature_deviation"] = statistics["representation"]["std"];
}

// Bytes of the weights and buffers that using the network takes, and of all that going on takes.
void put_storage(const std::string& directory, Json& numbers) {
  const std::string file = RunFiles(directory).checkpoint();
  double weights = 0;
  for (const auto& [name, tensor] : with_prefix(load_checkpoint(file).tensors, "method."))
    weights += static_cast<double>(tensor.nbytes());
  numbers["weights_mb"] = weights / kMiB;
  numbers["checkpoint_mb"] = static_cast<double>(std::filesystem::file_size(file)) / kMiB;
}

void put_numbers(const std::string& file, Json& numbers) {
  if (!file_exists(file)) return;
  const Json values = Json::parse(read_file(file));
  for (const auto& [name, value] : values.items())
    if (value.is_number() || name == "verdict") numbers[name] = value;
}

}  // namespace

const std::string& DataFolder::find(const std::string& name) {
  const auto known = found_.find(name);
  if (known != found_.end()) return known->second;
  std::string& place = found_[name];
  if (name == "shapes") return place = name;
  std::vector<std::string> candidates = {directory_ + "/" + name};
  // Any folder is a data set of pictures; only sets of files with known names can lie in DIR.
  if (name != "imagenet100" && name != "folder") candidates.push_back(directory_);
  for (const std::string& candidate : candidates) {
    if (!file_exists(candidate)) continue;
    try {
      DatasetOptions look;
      look.cache_bytes = 0;
      open_dataset(str(name, ":", candidate, "@test"), look);
      return place = str(name, ":", candidate);
    } catch (const Error&) {  // the next one
    }
  }
  return place;
}

CellConfig resolve_cell(const Cell& cell, const std::string& place) {
  CellConfig config;
  ConfigLayer layer = {cell.name, {}};
  const std::vector<OptionText> known = list_options(config.run.train);
  for (const auto& [name, value] : cell.settings) {
    if (set_option(config.cell, name, value)) continue;
    // An axis may be only a name for what its sections set.
    const bool is_axis = std::any_of(cell.axes.begin(), cell.axes.end(),
                                     [&, key = name](auto& axis) { return axis.first == key; });
    const bool is_setting = std::any_of(
        known.begin(), known.end(), [&, key = name](auto& option) { return option.name == key; });
    if (is_setting || !is_axis) layer.values[name] = value;
  }
  layer.values.emplace("recover", "false");  // an experiment shows what its settings do
  config.run = settle_config({layer});
  config.run.train.data = spec(place, "train", config.cell.images);
  if (!config.cell.alter.empty()) config.run.train.data += "+" + config.cell.alter;
  config.test = spec(place, "test", config.cell.test_images);
  if (config.cell.online_test) config.run.train.test = config.test;
  config.run.train.seed = cell.seed;
  return config;
}

std::string settings_text(const CellConfig& config) {
  TrainOptions train = config.run.train;
  train.data = train.test = "";  // the cell's options have their name
  CellOptions cell = config.cell;
  cell.label = "";
  std::string text;
  for (const OptionText& option : list_options(cell))
    text += str(option.name, " = ", option.value, "\n");
  for (const OptionText& option : list_options(train))
    text += str(option.name, " = ", option.value, "\n");
  return text;
}

CellState run_cell(const std::string& directory, const Cell& cell, const CellConfig& config,
                   const CellSession& session) {
  const RunFiles files(directory);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  CPL_CHECK(!error, "cannot make the directory ", directory, ": ", error.message(),
            "; choose another --out");
  const FileLock lock(directory + "/lock", FileLock::When::kTry);
  if (!lock.held()) return CellState::kBusy;
  const std::string settings = settings_text(config);
  const Json before = finished_cell(directory);
  if (!before.is_null()) {
    CPL_CHECK(before.value("settings", "") == settings, directory,
              " holds this cell with other settings: ask for the same, or choose another --out");
    return CellState::kWasFinished;
  }
  const Clock::time_point start = Clock::now();
  CellConfig mine = config;
  mine.run.session.threads = session.threads;
  const Training training = train(directory, mine, session);
  if (!training.complete) return CellState::kStopped;
  if (config.cell.evaluate) {
    EvaluationOptions evaluation;
    evaluation.test = config.test;
    evaluation.paper_probe = config.cell.paper_probe;
    evaluate_run(directory, evaluation, cell.seed, session.progress);
  }
  if (session.must_stop()) return CellState::kStopped;

  Json numbers;
  put_numbers(files.summary(), numbers);
  if (config.cell.evaluate) {
    numbers.erase("codes_used");  // of a few hundred training images; the test images' is meant
    put_numbers(files.evaluation(), numbers);
  }
  if (config.cell.diagnose) diagnose(directory, config, session, numbers);
  put_storage(directory, numbers);
  if (!training.seconds.empty()) {
    const double step = median(training.seconds);
    numbers["step_ms"] = 1e3 * step;
    numbers["step_ms_best"] =
        1e3 * *std::min_element(training.seconds.begin(), training.seconds.end());
    numbers["minutes"] = step * static_cast<double>(training.planned) / 60;
  }
  Json axes;
  for (const auto& [name, value] : cell.axes) axes[name] = value;
  const Json result = {{"cell", cell.name},   {"axes", axes},
                       {"seed", cell.seed},   {"seconds", seconds_since(start)},
                       {"numbers", numbers},  {"data", config.run.train.data},
                       {"test", config.test}, {"settings", settings}};
  write_file(directory + "/cell.json", result.dump(2) + "\n");
  return CellState::kFinished;
}

Json finished_cell(const std::string& directory) {
  const std::string file = directory + "/cell.json";
  if (!file_exists(file)) return nullptr;
  Json result = Json::parse(read_file(file), nullptr, false);
  CPL_CHECK(result.is_object() && result.contains("numbers"), file,
            " is damaged: delete it, and the cell is scored again");
  return result;
}

double estimate_step_seconds(const TrainOptions& options) {
  const std::int64_t rows = std::min<std::int64_t>(8, options.batch);
  const std::shared_ptr<Method> method = make_network(options);
  method->train();
  method->set_encoding({1, resolve_bf16(options)});
  Views views;
  views.globals = options.augment.views;
  for (const ViewOptions& view : resolve_augment(options, RecipeOptions().statistics).views) {
    if (views.sizes.empty() || views.sizes.back().images.size(2) != view.size)
      views.sizes.push_back({torch::empty({0, 3, view.size, view.size}), 0});
    Crops& crops = views.sizes.back();
    crops.images = torch::cat({crops.images, torch::randn({rows, 3, view.size, view.size})});
    ++crops.views;
  }
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {  // the first one also allocates
    const Clock::time_point start = Clock::now();
    method->step(views, {0, 1, 0, 1}).total.backward();
    best = std::min(best, seconds_since(start));
  }
  return best * static_cast<double>(options.batch) / static_cast<double>(rows);
}

}  // namespace cpl
