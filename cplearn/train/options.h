#pragma once
// Every setting of a training run, declared once: name, default, range, help (base/options.h);
// without torch.
//
// TrainOptions decide what comes out; a resumed run must have the same. SessionOptions decide how
// and where it is computed; they may change from one session of a run to the next.

#include <cstdint>
#include <string>

#include "cplearn/base/options.h"
#include "cplearn/data/loader.h"
#include "cplearn/data/recipe.h"
#include "cplearn/nn/backbone/backbone_options.h"
#include "cplearn/nn/optim/optimizer_options.h"
#include "cplearn/nn/optim/schedule.h"
#include "cplearn/ssl/method_options.h"

namespace cpl {

enum class Precision { kAuto, kFp32, kBf16 };
inline const Names<Precision> kPrecisionNames = {
    {"auto", Precision::kAuto}, {"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}};
inline const Names<OnBadImage> kOnBadImageNames = {{"skip", OnBadImage::kReplace},
                                                   {"fail", OnBadImage::kFail}};

// The recipe, and changes to all of its views; -1 leaves the recipe's own value.
struct AugmentSettings {
  std::string recipe = "auto";
  std::int64_t image_size = 0;
  std::int64_t views = 2;
  std::int64_t local_views = 8;
  double crop_min = -1, crop_max = -1, jitter = -1, brightness = -1, contrast = -1, saturation = -1,
         hue = -1, gray = -1, blur = -1, solarise = -1, flip = -1, noise = -1;

  template <class Visitor>
  void visit(Visitor&& v) {
    begin_topic(v, "Views");
    v("augment", recipe, "recipe for views: auto (fits the backbone), " + names_in(recipes()));
    v("image-size", image_size, "side of full views in pixels; 0: fits the backbone", AtLeast{0});
    v("views", views, "full views of each image", AtLeast{1});
    v("local-views", local_views, "small views of each image (recipe dino)", AtLeast{0});
    v("crop-min", crop_min, "least part of the image's area in a crop; -1: the recipe's", kPart);
    v("crop-max", crop_max, "largest part of the image's area in a crop; -1: the recipe's", kPart);
    v("jitter", jitter, "chance of changed colours; -1: the recipe's", kPart);
    v("brightness", brightness, "strength of changed brightness; -1: the recipe's", kStrength);
    v("contrast", contrast, "strength of changed contrast; -1: the recipe's", kStrength);
    v("saturation", saturation, "strength of changed saturation; -1: the recipe's", kStrength);
    v("hue", hue, "strength of changed hue, at most 0.5; -1: the recipe's", Between{-1, 0.5});
    v("gray", gray, "chance of a grey view; -1: the recipe's", kPart);
    v("blur", blur, "chance of a blurred view; -1: the recipe's", kPart);
    v("solarise", solarise, "chance of a solarised view; -1: the recipe's", kPart);
    v("flip", flip, "chance of a mirrored view; -1: the recipe's", kPart);
    v("noise", noise, "standard deviation of noise after normalising; -1: the recipe's", kStrength);
  }

 private:
  static constexpr Between kPart{-1, 1};
  static constexpr Between kStrength{-1, 10};
};

struct TrainOptions {
  std::string data = "shapes";
  std::string test;
  std::string method = "cplearn";
  MethodOptions method_options;
  std::string backbone = "resnet8";
  BackboneOptions backbone_options;
  AugmentSettings augment;
  std::int64_t batch = 64;
  std::int64_t epochs = 20;
  double lr = 1e-3;
  OptimizerOptions optimizer;
  std::string schedule = "cosine";
  double warmup = 1;
  double final_lr = 0;
  double step_every = 30;
  double step_factor = 0.1;
  double clip = 0;
  std::int64_t accumulate = 1;
  Precision precision = Precision::kAuto;
  bool probe = true;
  double probe_lr = 1e-2;
  OnBadImage on_bad_image = OnBadImage::kReplace;
  bool recover = true;
  std::uint64_t seed = 0;

  TrainOptions() { backbone_options.width = 64; }

  template <class Visitor>
  void visit(Visitor&& v) {
    begin_topic(v, "Run");
    v("data", data,
      "images to learn from: shapes, a folder, cifar10:DIR, ... (see 'cplearn info')");
    v("test", test, "labelled images on which the online probe is scored after each epoch");
    v("method", method, names_in(methods()) + "; 'cplearn info' says what they are");
    method_options.visit(v);
    begin_topic(v, "Network");
    v("backbone", backbone, names_in(backbones()));
    v("width", backbone_options.width, "resnet8: channels of every layer", AtLeast{1});
    v("final-activation", backbone_options.final_activation,
      "resnet8: LeakyReLU before the global mean");
    v("stem", backbone_options.stem, "resnet18, resnet50: cifar (small images) or imagenet");
    v("stem-padding", backbone_options.stem_padding,
      "resnet18, resnet50, cifar stem: 1, or 2 as in the authors' code", AtLeast{0});
    v("patch-size", backbone_options.patch_size, "vit: side of a patch in pixels", AtLeast{1});
    v("drop-path", backbone_options.drop_path, "vit: chance to leave out a branch", Between{0, 1});
    augment.visit(v);
    begin_topic(v, "Optimiser");
    v("batch", batch, "images per step", AtLeast{2});
    v("epochs", epochs, "passes over the images; if not given, as many as --minutes allow",
      AtLeast{1});
    v("lr", lr, "learning rate", AtLeast{0});
    v("optimizer", optimizer.name, names_in(optimizers()));
    v("weight-decay", optimizer.weight_decay, "pull of the weights towards 0; decoupled with adamw",
      AtLeast{0});
    v("decay-all", optimizer.decay_all, "decay biases and norms as well");
    v("momentum", optimizer.momentum, "sgd, lars: part of the last step that is kept",
      Between{0, 1});
    v("nesterov", optimizer.nesterov, "sgd: Nesterov's momentum");
    v("schedule", schedule, "of the learning rate: " + names_in(schedules()));
    v("warmup", warmup, "epochs of linear warm-up", AtLeast{0});
    v("final-lr", final_lr, "cosine: last learning rate", AtLeast{0});
    v("step-every", step_every, "schedule step: epochs between drops", AtLeast{0});
    v("step-factor", step_factor, "schedule step: what a drop multiplies by", Between{0, 1});
    v("clip", clip, "gradient norm limit; 0 disables it", AtLeast{0});
    v("accumulate", accumulate,
      "take the batch through the network in so many parts: less memory, the same loss",
      AtLeast{1});
    v("precision", precision, "of the network: auto is what is faster on this processor",
      kPrecisionNames);
    begin_topic(v, "Run");
    v("probe", probe,
      "train a linear classifier beside, when there are labels; it does not touch "
      "the encoder");
    v("probe-lr", probe_lr, "learning rate of the probe", AtLeast{0});
    v("on-bad-image", on_bad_image, "images that cannot be read: skip or fail", kOnBadImageNames);
    v("recover", recover,
      "when a collapse forms, go back to the last healthy state (or to the beginning) with safer "
      "settings, say so, and go on; at most twice");
    v("seed", seed, "where random numbers start; the same seed, the same result");
  }
};

struct SessionOptions {
  int threads = 0;
  int loader_threads = 1;
  std::string device = "cpu";
  std::int64_t log_every = 10;
  std::int64_t checkpoint_every = 0;
  bool keep = false;
  bool tensorboard = false;
  std::int64_t stop_after = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    begin_topic(v, "Machine, logs and checkpoints");
    v("threads", threads, "processor threads; 0: OMP_NUM_THREADS, or all cores", Between{0, 4096});
    v("loader-threads", loader_threads, "threads that make views; they never change the result",
      Between{1, 1024});
    v("device", device, "cpu, or cuda with a libtorch that has it (written for it, never tried)");
    v("log-every", log_every, "steps between lines of metrics.jsonl", AtLeast{1});
    v("checkpoint-every", checkpoint_every,
      "steps between checkpoints; 0: every epoch, and at least every 5 minutes", AtLeast{0});
    v("keep", keep, "keep the checkpoint of every epoch as epoch-N.safetensors");
    v("tensorboard", tensorboard, "write TensorBoard event files into the run");
    v("stop-after", stop_after, "save and stop after so many steps of this session; 0: at the end",
      AtLeast{0});
  }
};

// What the settings mean for these data; "auto" and 0 are decided here and nowhere else.
BackboneOptions resolve_backbone(const TrainOptions& options);
std::string resolve_recipe(const TrainOptions& options);
AugmentOptions resolve_augment(const TrainOptions& options, const std::string& statistics);
MethodOptions resolve_method(const TrainOptions& options);
Schedule resolve_schedule(const TrainOptions& options, std::int64_t steps_per_epoch);
bool resolve_bf16(const TrainOptions& options);

// Side of the full views in pixels.
int resolve_image_size(const TrainOptions& options);

}  // namespace cpl
