#include "cplearn/train/trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/machine.h"
#include "cplearn/base/table.h"
#include "cplearn/train/preflight.h"
#include "cplearn/train/remedy.h"

namespace cpl {
namespace {

constexpr double kSaveSeconds = 300;  // at most so long between checkpoints
constexpr std::int64_t kMostRecoveries = 2;
constexpr std::int64_t kJudgeEvery = 50;  // steps; of no session's choice, since trainings recover

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

at::Device parse_device(const std::string& name) {
  try {
    const at::Device device(name);
    CPL_CHECK(device.is_cpu() || torch::cuda::is_available(), "there is no device ", name,
              " here: this libtorch has no CUDA, or the machine no such card; use --device cpu");
    return device;
  } catch (const c10::Error&) {
    throw Error(str("there is no device '", name, "': use cpu, cuda or cuda:N"));
  }
}

}  // namespace

Trainer::Trainer(const std::string& directory, const TrainOptions& options,
                 const SessionOptions& session)
    : Trainer(directory, options, session, alone_) {}

Trainer::Trainer(const std::string& directory, const TrainOptions& options,
                 const SessionOptions& session, WorkerGroup& workers)
    : files_(directory),
      options_(options),
      session_(session),
      workers_(workers),
      device_(parse_device(session.device)),
      may_recover_(options.recover && workers.size() == 1) {
  open_data();
  per_epoch_ = static_cast<std::int64_t>(loader_->batches_per_epoch());
  steps_ = per_epoch_ * options_.epochs;
  build_network();
  const double memory = training_memory(*method_, options_, augment_);
  status_.position = {0, steps_, 0, options_.epochs};
  messages_ = preflight(options_, {static_cast<std::int64_t>(dataset_->size()), memory,
                                   static_cast<double>(available_memory())});
  last_lap_ = last_save_ = Clock::now();
}

void Trainer::build_network() {
  method_ = make_network(options_);
  method_->to(device_);
  method_->set_workers(workers_);
  const std::int64_t features = method_->backbone().features();
  if (options_.probe && dataset_->labelled()) {
    const auto classes = static_cast<std::int64_t>(dataset_->classes().size());
    probe_ = std::make_shared<Probe>(features, classes, options_.probe_lr);
  }
  monitor_ = std::make_shared<Monitor>(features, method_->codes(),
                                       static_cast<std::int64_t>(dataset_->size()));
  optimizer_ = std::make_unique<Optimizer>(*method_, options_.optimizer);
  schedule_ = resolve_schedule(options_, per_epoch_);
}

void Trainer::open_data() {
  DatasetOptions data;
  data.seed = options_.seed;
  data.decode.min_side = decode_side(resolve_augment(options_, RecipeOptions().statistics));
  dataset_ = open_dataset(options_.data, data);
  augment_ = resolve_augment(options_, dataset_->statistics());
  if (!options_.test.empty()) {
    test_ = open_dataset(options_.test, data);
    CPL_CHECK(test_->classes() == dataset_->classes(), "--test ", options_.test, " has ",
              test_->classes().size(), " classes and --data ", options_.data, " has ",
              dataset_->classes().size(), " or others: the probe needs the same ones");
  }
  LoaderOptions loading;
  loading.batch = static_cast<int>(options_.batch);
  loading.epochs = static_cast<int>(options_.epochs);
  loading.seed = options_.seed;
  loading.on_bad_image = options_.on_bad_image;
  loading.threads = session_.loader_threads;
  loader_ = std::make_unique<Loader>(*dataset_, augment_, loading);
}

// Seconds since the last call.
double Trainer::lap() {
  const double seconds = seconds_since(last_lap_);
  last_lap_ = Clock::now();
  return seconds;
}

// Views onto the batch's memory, which stays until the next batch is asked for.
Views Trainer::to_views(const Batch& batch) const {
  Views views;
  views.globals = options_.augment.views;
  for (const ViewGroup& group : batch.groups) {
    const auto rows = static_cast<std::int64_t>(group.views * batch.size());
    const at::Tensor pixels = torch::from_blob(const_cast<float*>(group.pixels.data()),
                                               {rows, group.size, group.size, 3});
    views.sizes.push_back({pixels.permute({0, 3, 1, 2}).to(device_), group.views});
  }
  return views;
}

void Trainer::stop_for(const std::string& what) const {
  throw Error(str(
      "step ", step_, ": ", what, ", and training has stopped. ",
      saved_step_ >= 0
          ? str("The checkpoint of step ", saved_step_, " in ", files_.directory, " is good. ")
          : "There is no checkpoint yet. ",
      "Likely the learning rate is too high: use --lr ", safe_rate(options_), " (now ",
      number_text(options_.lr), ")", resolve_bf16(options_) ? ", or --precision fp32" : "", "."));
}

StepResult Trainer::forward() {
  try {
    return method_->step(to_views(batch_), status_.position);
  } catch (const NotFinite& error) {
    stop_for(error.what());
  }
}

bool Trainer::step() {
  if (finished()) return false;
  CPL_CHECK(metrics_, "start() or resume() must come before step()");
  PartTimes& times = status_.times;
  lap();
  CPL_CHECK(loader_->next(batch_), "the data ended at step ", step_, " of ", steps_);
  times.data += lap();

  const double encoded = method_->encode_seconds();
  const StepResult result = forward();
  const double loss = result.total.item<double>();
  const double encoding = method_->encode_seconds() - encoded;
  times.forward += encoding;
  times.head += lap() - encoding;
  if (!std::isfinite(loss)) stop_for("the loss is not finite");

  optimizer_->zero_grad();
  result.total.backward();
  times.backward += lap();
  update();
  times.optimizer += lap();

  observe(result, loss, batch_);
  ++step_;
  status_.images += static_cast<std::int64_t>(batch_.size());
  status_.position = {step_, steps_, step_ / per_epoch_, options_.epochs};
  end_of_step(step_ % per_epoch_ == 0);
  times.other += lap();
  return true;
}

void Trainer::update() {
  if (workers_.size() > 1) {
    at::Tensor gradients = optimizer_->gradients();
    workers_.sum(gradients);
    gradients.div_(workers_.size());
  }
  const double norm = optimizer_->clip_gradients(options_.clip > 0 ? options_.clip : 1e300);
  if (!std::isfinite(norm)) stop_for("the gradient is not finite");
  interval_.add("gradient_norm", norm);
  status_.learning_rate = learning_rate(schedule_, step_);
  optimizer_->step(status_.learning_rate);
  method_->after_update(status_.position);
}

void Trainer::observe(const StepResult& result, double loss, const Batch& batch) {
  interval_.add("loss", loss);
  epoch_.add("loss", loss);
  for (const auto& [name, value] : result.terms) interval_.add(name, value);
  if (probe_) {
    const at::Tensor labels = torch::tensor(batch.labels, torch::kLong);
    interval_.add("probe_accuracy", probe_->step(result.representations.cpu(), labels));
  }
  interval_.end_step();
  epoch_.end_step();
  monitor_->observe(result, *method_);
}

void Trainer::end_of_step(bool end_of_epoch) {
  if (end_of_epoch && probe_ && test_) status_.test_accuracy = score_on_test();
  const bool log = end_of_epoch || step_ % session_.log_every == 0;
  if (end_of_epoch || finished() || step_ % kJudgeEvery == 0) judge_now();
  if (log) log_line(end_of_epoch);

  bool best = false;
  if (end_of_epoch) {
    best = epoch_.mean("loss") < best_loss_;
    best_loss_ = std::min(best_loss_, epoch_.mean("loss"));
    epoch_.reset();
  }
  if (session_.checkpoint_every > 0 ? step_ % session_.checkpoint_every == 0 || finished()
                                    : end_of_epoch || seconds_since(last_save_) > kSaveSeconds) {
    save();
  }
  if (workers_.rank() > 0) return;
  if (best) save_checkpoint(files_.best(), checkpoint());
  if (end_of_epoch && session_.keep)
    save_checkpoint(files_.epoch(status_.position.epoch), checkpoint());
  if (end_of_epoch && may_recover_ && !finished() && !just_begun() &&
      status_.judgement.verdict == Verdict::kHealthy)
    save_checkpoint(files_.healthy(), checkpoint());
  if (may_recover_ && status_.collapsing && recoveries_ < kMostRecoveries) recover();
}

// The last word is by the images as they are, without the noise of a batch.
void Trainer::judge_now() {
  if (finished())
    decide(check_up(*method_, *dataset_, augment_, options_.seed),
           check_up_untrained(options_, *dataset_, augment_));
  else
    decide(monitor_->signs(*method_), monitor_->start());
}

void Trainer::decide(const VitalSigns& now, const VitalSigns& before) {
  status_.signs = now;
  status_.judgement = judge(now, std::isnan(before.rank) ? nullptr : &before, JudgeLimits());
  status_.judged = has_news_ = true;
  const bool collapsed = !just_begun() && status_.judgement.verdict == Verdict::kCollapsed;
  status_.collapsing = collapsed && (was_collapsed_ || finished());
  was_collapsed_ = collapsed;
  const std::string verdict = status_.judgement.summary();
  if (just_begun() || verdict == last_verdict_) return;
  last_verdict_ = verdict;
  for (const std::string& words : advice()) messages_.push_back(str("step ", step_, ": ", words));
}

std::vector<std::string> Trainer::advice() const {
  std::vector<std::string> result;
  for (const Finding* finding : status_.judgement.findings()) {
    if (finding->verdict != Verdict::kCollapsed) continue;
    result.push_back(str(finding->name, " collapse: ", finding->words, "; use ",
                         remedy_words(remedies(options_))));
  }
  return result;
}

bool Trainer::just_begun() const {
  return step_ < std::min(steps_ / 3, std::max<std::int64_t>(200, per_epoch_));
}

void Trainer::log_line(bool end_of_epoch) {
  last_ = interval_;
  interval_.reset();
  show_last();
  MetricsLine line = {{"step", step_}, {"epoch", static_cast<double>(step_) / per_epoch_}};
  for (const auto& [name, mean] : last_.means()) line[name] = mean;
  line["learning_rate"] = status_.learning_rate;
  if (end_of_epoch && status_.test_accuracy >= 0) line["test_accuracy"] = status_.test_accuracy;
  if (std::exchange(has_news_, false)) put_health(line);
  line["images_per_second"] = status_.images_per_second();
  if (workers_.rank() > 0) return;
  metrics_->append(line);
  if (tensorboard_) tensorboard_->append(line);
}

void Trainer::put_health(MetricsLine& line) const {
  const VitalSigns& v = status_.signs;
  const double ratio = method_->codes() > 1 ? status_.loss / std::log(method_->codes()) : NAN;
  const std::pair<const char*, double> values[] = {
      {"information", v.information},  {"agreement", v.agreement},
      {"codes_used", v.used},          {"effective_rank", v.embedding_rank},
      {"representation_rank", v.rank}, {"start_rank", monitor_->start().rank},
      {"within_spread", v.within},     {"loss_over_ln_c", ratio}};
  for (const auto& [name, value] : values) {
    if (!std::isnan(value)) line[name] = value;  // not known, or a method without codes
  }
  line["verdict"] = just_begun() ? "just begun" : status_.judgement.summary();
  const std::vector<std::string> words = advice();
  if (!words.empty() && !just_begun()) line["advice"] = words;
}

void Trainer::show_last() {
  status_.terms.clear();
  for (const auto& [name, mean] : last_.means()) {
    if (name == "loss") {
      status_.loss = mean;
    } else if (name == "probe_accuracy") {
      status_.probe_accuracy = mean;
    } else if (name != "gradient_norm") {
      status_.terms.emplace_back(name, mean);
    }
  }
}

double Trainer::score_on_test() {
  const at::NoGradGuard no_grad;
  method_->eval();
  Loader loader(*test_, evaluation_views(resolve_image_size(options_), augment_.normalisation),
                evaluation_pass(static_cast<int>(options_.batch), session_.loader_threads));
  Batch batch;
  double right = 0, count = 0;
  while (loader.next(batch)) {
    const at::Tensor z = method_->backbone().forward(to_views(batch).sizes[0].images).cpu();
    const at::Tensor labels = torch::tensor(batch.labels, torch::kLong);
    right += probe_->predict(z).eq(labels).sum().item<double>();
    count += labels.ge(0).sum().item<double>();
  }
  method_->train();
  return count > 0 ? right / count : -1;
}

std::vector<std::string> Trainer::take_messages() { return std::exchange(messages_, {}); }

}  // namespace cpl
