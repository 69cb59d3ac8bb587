#include "cplearn/train/trainer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "cplearn/base/file.h"
#include "cplearn/train/features.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace cpl {
namespace {

TrainOptions tiny() {
  TrainOptions options;
  options.data = "shapes:96";
  options.test = "shapes:40@test";
  options.backbone_options.width = 8;
  options.method_options.head.codes = 32;
  options.batch = 16;
  options.epochs = 2;
  return options;
}

std::string fresh(const std::string& name) {
  static const test::TemporaryFolder folder;
  std::filesystem::remove_all(folder.path(name));
  return folder.path(name);
}

void expect_same_tensors(const std::string& a, const std::string& b) {
  const Checkpoint x = load_checkpoint(RunFiles(a).checkpoint());
  const Checkpoint y = load_checkpoint(RunFiles(b).checkpoint());
  EXPECT_EQ(x.step, y.step);
  ASSERT_EQ(x.tensors.size(), y.tensors.size());
  for (const auto& [name, tensor] : x.tensors)
    EXPECT_TRUE(torch::equal(tensor, y.tensors.at(name))) << name;
}

TEST(Trainer, GoesOnBitForBitWhereverItStopped) {
  const std::string whole = fresh("whole"), stopped = fresh("stopped");
  Trainer reference(whole, tiny(), SessionOptions());
  reference.start();
  while (reference.step()) {
  }
  const MetricsLine summary = reference.finish();
  EXPECT_EQ(summary["steps"], 12);
  EXPECT_TRUE(summary.contains("invariance") && summary.contains("prior"));
  EXPECT_TRUE(summary.contains("test_accuracy"));

  {
    Trainer first(stopped, tiny(), SessionOptions());
    first.start();
  }
  for (const int steps : {1, 4, 2, 100}) {
    torch::manual_seed(12345);  // whatever else happened in the meantime
    Trainer next(stopped, tiny(), SessionOptions());
    next.resume(false);
    for (int i = 0; i < steps && next.step(); ++i) {
    }
    if (!next.finished()) next.save();
  }
  expect_same_tensors(whole, stopped);
}

TEST(Trainer, EveryMethodGoesOnBitForBitAndOpens) {
  for (const MethodRow& row : methods()) {
    TrainOptions options = tiny();
    options.method = row.name;
    options.data = "shapes:48";
    options.test.clear();
    options.epochs = 1;
    options.method_options.head.hidden = 16;
    options.method_options.own<SwavOptions>().queue = 24;
    options.method_options.own<GediOptions>().buffer = 20;
    options.method_options.own<GediOptions>().langevin.steps = 2;
    const std::string whole = fresh(str(row.name, "-whole")), stopped = fresh(row.name);
    Trainer reference(whole, options, SessionOptions());
    reference.start();
    while (reference.step()) {
    }
    const MetricsLine summary = reference.finish();
    EXPECT_EQ(summary.contains("codes_used"), reference.method().codes() > 0) << row.name;

    Trainer first(stopped, options, SessionOptions());
    first.start();
    first.step();
    first.save();
    Trainer second(stopped, options, SessionOptions());
    second.resume(false);
    while (second.step()) {
    }
    expect_same_tensors(whole, stopped);

    const cpl::Run run = open_run(whole);
    const auto features =
        extract_features(*run.method, reference.dataset(), run.views, FeatureOptions(), {});
    EXPECT_EQ(features.representations.size(0), 48);
    EXPECT_EQ(features.codes.defined(), run.method->codes() > 0) << row.name;
  }
}

TEST(Trainer, OpensForEvaluation) {
  const std::string path = fresh("opened");
  Trainer trainer(path, tiny(), SessionOptions());
  trainer.start();
  while (trainer.step()) {
  }
  cpl::Run run = open_run(path);
  EXPECT_EQ(run.step, 12);
  EXPECT_EQ(run.views.views.size(), 1u);
  const at::Tensor images = torch::randn({3, 3, 32, 32});
  trainer.method().eval();
  EXPECT_TRUE(torch::equal(run.method->backbone().forward(images),
                           trainer.method().backbone().forward(images)));
  EXPECT_NE(error_of([] { open_run("/nowhere"); }).find("/nowhere"), std::string::npos);
  EXPECT_EQ(open_run(RunFiles(path).best()).step % 6, 0);
}

TEST(Trainer, RefusesOtherSettings) {
  const std::string path = fresh("settings");
  Trainer(path, tiny(), SessionOptions()).start();
  TrainOptions other = tiny();
  other.method_options.head.beta = 0.125;
  const std::string error = error_of([&] { Trainer(path, other, SessionOptions()).resume(false); });
  EXPECT_NE(error.find("beta"), std::string::npos) << error;
  EXPECT_NE(error.find("0.125"), std::string::npos) << error;
  EXPECT_NE(error.find("--override"), std::string::npos) << error;
  EXPECT_NO_THROW(Trainer(path, other, SessionOptions()).resume(true));
  EXPECT_NE(error_of([&] { Trainer(path, tiny(), SessionOptions()).start(); }).find("already"),
            std::string::npos);
}

Precision saved_precision(const std::string& path) {
  const std::string config = read_file(RunFiles(path).config());
  EXPECT_EQ(config, load_checkpoint(RunFiles(path).checkpoint()).config);
  return parse_run_config(config, path).train.precision;
}

TEST(Trainer, SettlesThePrecisionOnce) {
  TrainOptions options = tiny();
  options.test.clear();
  ASSERT_EQ(options.precision, Precision::kAuto);
  const bool bf16 = resolve_bf16(options);
  const Precision here = bf16 ? Precision::kBf16 : Precision::kFp32;
  const Precision other = bf16 ? Precision::kFp32 : Precision::kBf16;
  const auto session = [&](const std::string& path, Precision precision, bool fresh_run) {
    options.precision = precision;
    Trainer trainer(path, options, SessionOptions());
    fresh_run ? trainer.start() : trainer.resume(false);
    trainer.step();
    trainer.save();
  };
  const std::string path = fresh("auto");
  session(path, Precision::kAuto, true);
  EXPECT_EQ(saved_precision(path), here);

  // As if begun on a machine where the other precision is faster: "auto" is what the run has.
  const std::string moved = fresh("moved"), given = fresh("given");
  session(moved, other, true);
  session(moved, Precision::kAuto, false);
  EXPECT_EQ(saved_precision(moved), other);
  EXPECT_NE(error_of([&] { session(moved, here, false); }).find("precision"), std::string::npos);
  session(given, other, true);
  session(given, other, false);
  expect_same_tensors(moved, given);

  // Version 0.1 saved "auto".
  const std::string old = fresh("old");
  session(old, Precision::kAuto, true);
  Checkpoint checkpoint = load_checkpoint(RunFiles(old).checkpoint());
  options.precision = Precision::kAuto;
  checkpoint.config = run_config_text({options, SessionOptions()});
  save_checkpoint(RunFiles(old).checkpoint(), checkpoint);
  session(old, Precision::kAuto, false);
  EXPECT_EQ(saved_precision(old), here);
}

TEST(Trainer, StopsAtNaN) {
  TrainOptions options = tiny();
  options.optimizer.name = "sgd";
  options.lr = 1e30;
  options.warmup = 0;
  Trainer trainer(fresh("nan"), options, SessionOptions());
  trainer.start();
  const std::string error = error_of([&] {
    while (trainer.step()) {
    }
  });
  EXPECT_NE(error.find("learning rate"), std::string::npos) << error;
}

// beta = 10 puts all images on a few codes; the remedy is the default.
TrainOptions bound_to_collapse() {
  TrainOptions options = tiny();
  options.data = "shapes:640";
  options.test.clear();
  options.batch = 64;
  options.epochs = 20;
  options.lr = 1e-2;
  options.method_options.head.beta = 10;
  return options;
}

TEST(Trainer, RecoversFromACollapseAndGoesOnBitForBit) {
  const std::string whole = fresh("recovered"), stopped = fresh("recovered-stopped");
  Trainer reference(whole, bound_to_collapse(), SessionOptions());
  reference.start();
  bool said = false;
  while (reference.step()) {
    for (const std::string& words : reference.take_messages())
      said = said || words.find("with safer settings: --beta 0.4 (now 10)") != std::string::npos;
  }
  EXPECT_TRUE(said);
  const MetricsLine summary = reference.finish();
  EXPECT_GE(summary["recoveries"], 1);
  EXPECT_EQ(std::string(summary["verdict"]).find("collapsed"), std::string::npos) << summary;
  const TrainOptions safer = parse_run_config(read_file(RunFiles(whole).config()), "run").train;
  EXPECT_EQ(safer.method_options.head.beta, 0.4);

  {
    Trainer first(stopped, bound_to_collapse(), SessionOptions());
    first.start();
  }
  // Stopped again and again: before the first verdict, between the two, after the recovery.
  for (const int steps : {45, 15, 7, 150, 1000}) {
    Trainer next(stopped, parse_run_config(read_file(RunFiles(stopped).config()), "run").train,
                 SessionOptions());
    next.resume(false);
    for (int i = 0; i < steps && next.step(); ++i) {
    }
    next.save();
  }
  expect_same_tensors(whole, stopped);
  EXPECT_NE(read_file(RunFiles(stopped).metrics()).find("with safer settings"), std::string::npos);
}

// Remedies that change the network's shape cannot be taken by one in training.
TEST(Trainer, RecoversAlsoWhereARemedyWouldChangeTheNetwork) {
  const std::string run = fresh("shapes");
  TrainOptions options = bound_to_collapse();
  options.method_options.head.train_dictionary = true;
  {
    Trainer trainer(run, options, SessionOptions());
    trainer.start();
    for (int i = 0; i < 10; ++i) trainer.step();
    trainer.save();
  }
  std::filesystem::copy(RunFiles(run).checkpoint(), RunFiles(run).healthy());
  Trainer trainer(run, options, SessionOptions());
  trainer.resume(false);
  std::string said;
  while (trainer.step()) {
    for (const std::string& words : trainer.take_messages()) said += words + "\n";
  }
  ASSERT_TRUE(trainer.finish().contains("recoveries"));
  EXPECT_NE(said.find("with safer settings: --lr 0.001 (now 0.01)"), std::string::npos) << said;
}

TEST(Trainer, AKillDuringRecoveryIsPutRight) {
  const std::string run = fresh("killed");
  Trainer reference(run, bound_to_collapse(), SessionOptions());
  reference.start();
  const std::string stale = read_file(RunFiles(run).config());
  while (!reference.finish().contains("recoveries") && reference.step()) {
  }
  write_file(RunFiles(run).config(), stale);
  const auto resume = [&] {
    Trainer next(run, parse_run_config(read_file(RunFiles(run).config()), "run").train,
                 SessionOptions());
    next.resume(false);
  };
  EXPECT_NE(error_of(resume).find("the same command goes on now"), std::string::npos);
  EXPECT_NO_THROW(resume());
}

TEST(Trainer, DoesNotRecoverWhenToldNot) {
  Trainer trainer(fresh("strict"), bound_to_collapse(), SessionOptions());
  trainer.start();
  trainer.never_recover();
  while (!trainer.status().collapsing && trainer.step()) {
  }
  EXPECT_TRUE(trainer.status().collapsing);
  EXPECT_FALSE(trainer.finished());
  EXPECT_EQ(std::string(trainer.finish()["verdict"]).find("collapsed: "), 0u);
}

TEST(Trainer, EveryKindOfTrainingRuns) {
  const auto runs = [](const char* name, auto change) {
    TrainOptions options = tiny();
    options.data = "shapes:32";
    options.test.clear();
    options.epochs = 1;
    change(options);
    Trainer trainer(fresh(name), options, SessionOptions());
    trainer.start();
    EXPECT_TRUE(trainer.step()) << name;
  };
  for (const OptimizerRow& row : optimizers())
    runs(row.name, [&](TrainOptions& o) { o.optimizer.name = row.name; });
  for (const ScheduleRow& row : schedules())
    runs(row.name, [&](TrainOptions& o) { o.schedule = row.name; });
  runs("parts", [](TrainOptions& o) { o.accumulate = 3; });
  runs("bf16", [](TrainOptions& o) { o.precision = Precision::kBf16; });
  runs("crops", [](TrainOptions& o) {
    o.augment.recipe = "dino";
    o.augment.local_views = 2;
  });
  runs("clip", [](TrainOptions& o) { o.clip = 0.1; });
  runs("vit", [](TrainOptions& o) {
    o.backbone = "vit_tiny";
    o.augment.recipe = "asymmetric";
    o.augment.image_size = 16;
    o.backbone_options.patch_size = 8;
  });
}

}  // namespace
}  // namespace cpl
