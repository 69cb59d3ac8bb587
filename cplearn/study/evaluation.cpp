#include "cplearn/study/evaluation.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/cluster_scores.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/knn.h"
#include "cplearn/eval/linear_probe.h"
#include "cplearn/train/features.h"
#include "cplearn/train/run.h"
#include "cplearn/train/untrained.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;

LinearProbe fit_probe(const Features& train, std::int64_t classes, bool paper, std::uint64_t seed) {
  if (!paper)
    return fit_logistic_probe(train.representations, train.labels, classes, LogisticProbeOptions());
  AdamProbeOptions adam;
  adam.seed = seed;
  return fit_adam_probe(train.representations, train.labels, classes, adam);
}

// Everything that is said about one way of making features.
Json score(const Features& train, const Features& test, std::int64_t classes, bool paper_probe,
           std::uint64_t seed) {
  KMeansOptions kmeans_options;
  kmeans_options.clusters = classes;
  kmeans_options.seed = seed;
  Json j;
  if (test.codes.defined()) {
    const Labels codes = test.code_list();
    const ClusterScores own = cluster_scores(codes, test.labels);
    const ClusterScores merged =  // the codes merged to k = classes
        cluster_scores(merge_codes(test.embeddings, codes, kmeans_options), test.labels);
    j = {{"nmi", own.nmi},           {"nmi_chance", own.nmi_chance},      {"ami", own.ami},
         {"ari", own.ari},           {"codes_used", own.clusters_used},   {"purity", own.purity},
         {"merged_ami", merged.ami}, {"merged_accuracy", merged.accuracy}};
  }
  const ClusterScores grouped =
      cluster_scores(kmeans(test.embeddings, kmeans_options).labels, test.labels);
  j["cluster_accuracy"] = grouped.accuracy;
  j["kmeans_nmi"] = grouped.nmi;
  j["kmeans_ami"] = grouped.ami;
  j["kmeans_ari"] = grouped.ari;
  const LinearProbe probe = fit_probe(train, classes, paper_probe, seed);
  const Accuracy linear = accuracy(probe.scores(test.representations), test.labels);
  j["linear_top1"] = linear.top1;
  j["linear_top5"] = linear.top5;
  j["knn_top1"] = accuracy(knn_votes(train.representations, train.labels, test.representations,
                                     classes, KnnOptions()),
                           test.labels)
                      .top1;
  return j;
}

}  // namespace

Json evaluate_run(const std::string& path, const EvaluationOptions& o, std::uint64_t seed,
                  Progress::Mode mode) {
  Run trained = open_run(path);
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
    Progress progress(static_cast<std::int64_t>(data.size()), "images", mode);
    return extract_features(method, data, trained.views, how,
                            [&](std::int64_t done) { progress.update(done, what); })
        .labelled();
  };
  Json result =
      score(features(*trained.method, *train_data, "training images"),
            features(*trained.method, *test_data, "test images"), classes, o.paper_probe, seed);
  result["n_train"] = train_data->size();
  result["n_test"] = test_data->size();
  result["classes"] = classes;
  result["data"] = train_spec;
  result["test"] = test_spec;
  result["step"] = trained.step;
  result["probe"] =
      o.paper_probe ? "adam 1e-2, 100 epochs (the paper's)" : "logistic regression to convergence";
  result["batch_norm"] = o.batch_norm == BatchNormMode::kBatch
                             ? "statistics of batches of 64 (the authors' script)"
                             : "running statistics of the training";
  if (o.baselines) {
    const std::shared_ptr<Method> fresh =
        untrained_network(trained.options, *train_data, trained.views);
    result["untrained"] =
        score(features(*fresh, *train_data, "untrained, training images"),
              features(*fresh, *test_data, "untrained, test images"), classes, o.paper_probe, seed);
    result["pixels"] =
        score(extract_pixels(*train_data, trained.views).labelled(),
              extract_pixels(*test_data, trained.views).labelled(), classes, o.paper_probe, seed);
  }
  if (file_exists(RunFiles(path).config()))
    write_file(RunFiles(path).evaluation(), result.dump(2) + "\n");
  return result;
}

}  // namespace cpl
