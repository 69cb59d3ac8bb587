// cplearn eval: what the codes and the representations know about classes, beside what is to be
// beaten.

#include <torch/torch.h>

#include "cli/command.h"
#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/cluster_scores.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/knn.h"
#include "cplearn/eval/linear_probe.h"
#include "cplearn/train/features.h"
#include "cplearn/train/run.h"

namespace cpl::cli {
namespace {

enum class BatchNormMode { kRunning, kBatch };
const Names<BatchNormMode> kBatchNormNames = {{"running", BatchNormMode::kRunning},
                                              {"batch", BatchNormMode::kBatch}};

struct Options {
  std::string run, data, test;
  bool baselines = false;
  bool paper_probe = false;
  BatchNormMode batch_norm = BatchNormMode::kRunning;
};

// Everything that is said about one way of making features.
struct Scores {
  std::string name;
  bool has_codes = false;
  ClusterScores codes{};   // code assignments against classes
  ClusterScores merged{};  // codes merged to k = classes
  ClusterScores kmeans{};  // k-means with k = classes on the embeddings
  Accuracy linear, knn;
};

Labels to_labels(const at::Tensor& codes) {
  const at::Tensor c = codes.contiguous();
  return Labels(c.data_ptr<std::int64_t>(), c.data_ptr<std::int64_t>() + c.numel());
}

Scores score(const std::string& name, const Features& train, const Features& test,
             std::int64_t classes, const Options& options, const Common& common) {
  Scores s;
  s.name = name;
  KMeansOptions kmeans_options;
  kmeans_options.clusters = classes;
  kmeans_options.seed = common.seed;
  s.kmeans = cluster_scores(kmeans(test.embeddings, kmeans_options).labels, test.labels);
  if (test.codes.defined()) {
    s.has_codes = true;
    s.codes = cluster_scores(to_labels(test.codes), test.labels);
    s.merged = cluster_scores(merge_codes(test.embeddings, to_labels(test.codes), kmeans_options),
                              test.labels);
  }
  LinearProbe probe;
  if (options.paper_probe) {
    AdamProbeOptions adam;
    adam.seed = common.seed;
    probe = fit_adam_probe(train.representations, train.labels, classes, adam);
  } else {
    probe =
        fit_logistic_probe(train.representations, train.labels, classes, LogisticProbeOptions());
  }
  s.linear = accuracy(probe.scores(test.representations), test.labels);
  s.knn = accuracy(
      knn_votes(train.representations, train.labels, test.representations, classes, KnnOptions()),
      test.labels);
  return s;
}

Json to_json(const Scores& s) {
  Json j;
  if (s.has_codes) {
    j = {{"nmi", s.codes.nmi},
         {"nmi_chance", s.codes.nmi_chance},
         {"ami", s.codes.ami},
         {"ari", s.codes.ari},
         {"codes_used", s.codes.clusters_used},
         {"purity", s.codes.purity},
         {"merged_ami", s.merged.ami},
         {"merged_accuracy", s.merged.accuracy}};
  }
  j["cluster_accuracy"] = s.kmeans.accuracy;
  j["kmeans_nmi"] = s.kmeans.nmi;
  j["kmeans_ami"] = s.kmeans.ami;
  j["kmeans_ari"] = s.kmeans.ari;
  j["linear_top1"] = s.linear.top1;
  j["linear_top5"] = s.linear.top5;
  j["knn_top1"] = s.knn.top1;
  return j;
}

int run(const Options& o, const Common& common) {
  cpl::Run trained = open_run(o.run);
  DatasetOptions data_options;
  data_options.seed = trained.options.seed;  // `#N` picks the same images as in training
  data_options.decode.min_side = decode_side(trained.views);
  const std::string train_spec = o.data.empty() ? trained.options.data : o.data;
  const std::string test_spec = !o.test.empty() ? o.test : trained.options.test;
  CPL_CHECK(!test_spec.empty(),
            "eval: needs --test SPEC, a data set that was not trained on (for instance ",
            train_spec.substr(0, train_spec.find_first_of("@#")), "@test)");
  const auto train_data = open_dataset(train_spec, data_options);
  const auto test_data = open_dataset(test_spec, data_options);
  for (const Dataset* data : {train_data.get(), test_data.get()}) {
    CPL_CHECK(data->labelled(), "eval: ", data == train_data.get() ? train_spec : test_spec,
              " has no labels to compare with; a folder needs a sub-folder per class");
  }
  CPL_CHECK(train_data->classes() == test_data->classes(), "eval: ", train_spec, " and ", test_spec,
            " have different classes; both need the same sub-folders");
  const auto classes = static_cast<std::int64_t>(train_data->classes().size());

  FeatureOptions how;
  if (o.batch_norm == BatchNormMode::kBatch) how = {64, true};
  const auto features = [&](Method& method, const Dataset& data, const char* what) {
    Progress progress(static_cast<std::int64_t>(data.size()), "images",
                      common.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    return extract_features(method, data, trained.views, how,
                            [&](std::int64_t done) { progress.update(done, what); })
        .labelled();
  };
  std::vector<Scores> all;
  all.push_back(score("trained", features(*trained.method, *train_data, "training images"),
                      features(*trained.method, *test_data, "test images"), classes, o, common));
  if (o.baselines) {
    const std::shared_ptr<Method> fresh = make_network(trained.options);
    all.push_back(
        score("untrained encoder", features(*fresh, *train_data, "untrained, training images"),
              features(*fresh, *test_data, "untrained, test images"), classes, o, common));
    all.push_back(score("pixels", extract_pixels(*train_data, trained.views).labelled(),
                        extract_pixels(*test_data, trained.views).labelled(), classes, o, common));
  }

  TextTable table({"", "linear", "kNN", "k-means AMI", "k-means acc.", "codes: AMI", "NMI",
                   "(chance)", "codes used"});
  for (const Scores& s : all) {
    const auto code = [&](double value) {
      return s.has_codes ? readable(value) : std::string("-");
    };
    table.add({s.name, readable(s.linear.top1), readable(s.knn.top1), readable(s.kmeans.ami),
               readable(s.kmeans.accuracy), code(s.codes.ami), code(s.codes.nmi),
               code(s.codes.nmi_chance),
               s.has_codes ? std::to_string(s.codes.clusters_used) : "-"});
  }
  Json result = to_json(all.front());
  result["n_train"] = train_data->size();
  result["n_test"] = test_data->size();
  result["probe"] =
      o.paper_probe ? "adam 1e-2, 100 epochs (the paper's)" : "logistic regression to convergence";
  result["batch_norm"] = o.batch_norm == BatchNormMode::kBatch
                             ? "statistics of batches of 64 (the authors' script)"
                             : "running statistics of the training";
  if (o.baselines) {
    result["untrained"] = to_json(all[1]);
    result["pixels"] = to_json(all[2]);
  }
  common.say()
      << trained.options.method << ", " << trained.options.backbone << ", step " << trained.step
      << "; trained on " << trained.options.data << "; probe on " << train_spec << " ("
      << train_data->size() << "), scores on " << test_spec << " (" << test_data->size()
      << " images, " << classes << " classes)\n\n"
      << table.str() << "\nlinear: " << result["probe"].get<std::string>()
      << ". Batch norm: " << result["batch_norm"].get<std::string>()
      << ". kNN: 20 neighbours, cosine. k-means: on embeddings, k = " << classes
      << ".\nNMI grows with the number of codes by chance alone; AMI is corrected for it.\n";
  const RunFiles files(o.run);
  if (file_exists(files.config())) write_file(o.run + "/eval.json", result.dump(2) + "\n");
  common.result(result);
  return kSuccess;
}

}  // namespace

Run declare_eval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "a run directory, or one of its checkpoints")->required();
  AddOptions add(app);
  add("data", options->data,
      "labelled images to fit the probe on; default: those the run was trained on");
  add("test", options->test, "labelled images to score on; default: the run's own --test");
  add("baselines", options->baselines,
      "also score the untrained encoder, and the pixels themselves");
  add("paper-probe", options->paper_probe,
      "the paper's probe (Adam 1e-2, 100 epochs) instead of logistic regression");
  add("bn", options->batch_norm,
      "batch norms use the training's running statistics, or each batch's own (64 images, as the "
      "authors' script does)",
      kBatchNormNames);
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace cpl::cli
