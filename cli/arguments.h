#pragma once
// What people can say to the commands that need the engine, without torch: each option once.

#include <cstdint>
#include <set>
#include <string>

#include "cplearn/base/options.h"
#include "cplearn/eval/free_points.h"
#include "cplearn/eval/theory.h"
#include "cplearn/nn/code_head_options.h"
#include "cplearn/study/study_options.h"
#include "cplearn/train/run_config.h"

namespace cpl::cli {

struct TrainArguments {
  std::string out, resume;
  bool override_settings = false;
  bool strict = false;
  double minutes = 20;  // how long to train where nobody wrote --epochs
  RunConfig config;     // what came of defaults, files and the command line
  // Names of the settings that people wrote, or that the method has of its own; the others may
  // follow from the images.
  std::set<std::string> written;
};

struct EvalArguments {
  std::string run;
  EvaluationOptions evaluation;
};

struct DiagnoseArguments {
  std::string run, data, embeddings, labels, out;
  bool maps = true;
  DiagnosisOptions diagnosis;
};

struct EmbedArguments {
  std::string run, data, out = "features.npy";
  FeatureKind what = FeatureKind::kRepresentation;
};

struct ClusterArguments {
  std::string run, data, out = "clusters";
  ClusterOptions clusters;
};

struct TheoryArguments {
  TheoryOptions checks;
  bool optimise = false;
  FreePointsOptions points;  // with optimise; width and beta are those of `checks`
};

struct DataArguments {
  enum class Action { kInfo, kVerify, kFetch };
  Action action = Action::kInfo;
  std::string spec;
  std::string augment = "asymmetric";
  int image_size = 0;
  std::string sheet = "contact-sheet.png";
  int sheet_rows = 8;
  std::int64_t sample = 1000;
};

struct DictionaryArguments {
  std::int64_t width = 128;
  std::int64_t codes = 16384;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  std::int64_t pairs = 1000000;
  std::string out, figure;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("width", width, "dimensions of a code, d", AtLeast{1});
    v("codes", codes, "number of codes, c", AtLeast{1});
    v("dictionary", dictionary,
      "hadamard (blocks of orthogonal codes) or rademacher (i.i.d. signs)", kDictionaryNames);
    v("pairs", pairs, "pairs of codes to look at; all of them if there are no more", AtLeast{1});
    v("out", out, "save the dictionary to this file (.safetensors)");
    v("figure", figure,
      "draw W'W for f = 50, 100 and c = f, 2f, 5f (Figure 3 of the paper) as SVG");
  }
};

struct ReproduceArguments {
  std::string name, config, budget = "smoke", data_dir = ".", out, only, set;
  std::int64_t seeds = 0, epochs = 0, images = 0;
  bool list = false, dry_run = false;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("budget", budget,
      "smoke (a minute or two, built-in images), cpu (hours on a few cores, real data, reduced) or "
      "paper (the full protocol)");
    v("data-dir", data_dir, "folder with the data sets: DIR/cifar10, DIR/svhn, ... or their files");
    v("only", only, "cells to run, for instance method=swav|dino,codes=128 or seed=0");
    v("seeds", seeds, "runs of every setting, from --seed on; 0: the experiment's", AtLeast{0});
    v("epochs", epochs, "0: the experiment's", AtLeast{0});
    v("images", images, "training images of a run; 0: the experiment's", AtLeast{0});
    v("set", set, "other settings for every run, for instance width=64,lr=1e-3");
    v("out", out, "folder of the runs and results; reproduce/BUDGET if not given");
    v("config", config, "an experiment of your own; docs/reproducing.md says how to write one");
    v("dry-run", dry_run, "list the cells with their estimated cost, and run nothing");
    v("list", list, "list the experiments");
  }
};

struct GauntletArguments {
  std::string method = "cplearn", budget = "smoke", data_dir = ".", out, only;
  std::int64_t seeds = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("method", method, "whose trainings to count; several with commas");
    v("budget", budget,
      "smoke (a minute, built-in images), cpu (114 runs of ten seconds on CIFAR-10) or paper (all "
      "images, 20 epochs)");
    v("data-dir", data_dir, "folder with the data sets: DIR/cifar10, or its files");
    v("only", only, "settings to run, for instance setting=batch-8|tiny");
    v("seeds", seeds, "runs of every setting, from --seed on; 0: 3, or 1 with smoke", AtLeast{0});
    v("out", out, "folder of the runs and the page; gauntlet/BUDGET if not given");
  }
};

struct BenchHeadArguments {
  std::int64_t width = 512;
  std::int64_t codes = 16384;
  std::int64_t batch = 64;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  LogitScale scale = LogitScale::kTheory;
  PriorForm prior = PriorForm::kReverse;
  double beta = 0.5;
  int steps = 10;
  bool table = false;
  bool plain = true;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("width", width, "dimensions of a code, d", AtLeast{1});
    v("codes", codes, "number of codes, c", AtLeast{1});
    v("batch", batch, "rows of each view, n", AtLeast{1});
    v("dictionary", dictionary, "hadamard or rademacher", kDictionaryNames);
    v("scale", scale, "of the logits", kLogitScaleNames);
    v("prior", prior, "form of the prior: others, reverse or forward", kPriorFormNames);
    v("beta", beta, "weight of the invariance term", AtLeast{0});
    v("steps", steps, "repetitions; the best counts", AtLeast{1});
    v("table", table, "also show how the fused cost grows with codes and batch");
    v("plain", plain, "time the straightforward graph as well");
  }
};

struct BenchTrainArguments {
  TrainOptions train;
  int steps = 20;
  bool plain = true;

  BenchTrainArguments() {  // the paper's form, so that others can be measured beside it
    train = default_options("cplearn_paper");
    train.backbone_options.width = 128;
    train.method_options.head.codes = 16384;
    train.augment.recipe = "resnet8";
  }

  template <class Visitor>
  void visit(Visitor&& v) {
    train.visit(v);
    v("steps", steps, "training steps to time, at least 10", AtLeast{10});
    v("plain", plain, "time the straightforward graph as well");
  }
};

struct BenchDataArguments {
  std::string data = "shapes:2048";
  std::string augment = "resnet8";
  int image_size = 0;
  int batch = 64;
  int steps = 10;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("data", data, "images to augment");
    v("augment", augment, "recipe: " + names_in(recipes()));
    v("image-size", image_size, "of full views; 0: the recipe's own", AtLeast{0});
    v("batch", batch, "images per measurement", AtLeast{1});
    v("steps", steps, "repetitions; the best counts", AtLeast{1});
  }
};

struct BenchEmbedArguments {
  TrainOptions train;
  FeatureKind what = FeatureKind::kRepresentation;
  int steps = 3;

  BenchEmbedArguments() {
    train.data = "shapes:2048";
    train.backbone_options.width = 128;
  }

  template <class Visitor>
  void visit(Visitor&& v) {
    train.visit(v);
    v("what", what, "of each image", kFeatureKindNames);
    v("steps", steps, "repetitions; the best counts", AtLeast{1});
  }
};

}  // namespace cpl::cli
