// Times the library's evaluations on one set of features; bench/sklearn_compare.py runs it beside
// scikit-learn.
//   eval_times FEATURES.npy LABELS.npy CODES.npy THREADS ONLY
// prints a JSON object of seconds and results; ONLY is empty or names with commas.

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cplearn/base/npy.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/cluster_scores.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/linear_probe.h"
#include "cplearn/eval/mixture.h"
#include "cplearn/eval/trustworthiness.h"
#include "cplearn/eval/tsne.h"

namespace {

int run(char** arguments) {
  const cpl::NpyArray array = cpl::read_npy(arguments[1]);
  const at::Tensor x =
      torch::tensor(array.values<float>()).view({array.shape.at(0), array.shape.at(1)});
  const cpl::Labels labels = cpl::read_npy(arguments[2]).values<std::int64_t>();
  const cpl::Labels codes = cpl::read_npy(arguments[3]).values<std::int64_t>();
  at::set_num_threads(std::atoi(arguments[4]));
  std::int64_t classes = 0;
  for (const std::int64_t label : labels) classes = std::max(classes, label + 1);

  const std::string only = std::string(",") + arguments[5] + ",";
  nlohmann::ordered_json out;
  // `work` is timed; `tell` makes a number of its result.
  const auto time = [&](const std::string& name, auto work, auto tell) {
    if (only != ",," && only.find("," + name + ",") == std::string::npos) return;
    const auto start = std::chrono::steady_clock::now();
    const auto result = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    out[name] = {{"seconds", took.count()}, {"result", tell(result)}};
  };
  time(
      "linear probe",
      [&] { return cpl::fit_logistic_probe(x, labels, classes, cpl::LogisticProbeOptions()); },
      [](const cpl::LinearProbe& probe) { return probe.train_loss; });
  cpl::MixtureOptions mixture;
  mixture.components = 200;
  time(
      "mixture of 200", [&] { return cpl::fit_mixture(x, mixture); },
      [](const cpl::Mixture& fitted) { return fitted.log_likelihood; });
  cpl::KMeansOptions kmeans;
  kmeans.clusters = classes;
  time(
      "k-means", [&] { return cpl::kmeans(x, kmeans); },
      [](const cpl::KMeans& clusters) { return clusters.inertia; });
  time(
      "AMI", [&] { return cpl::adjusted_mutual_information(cpl::contingency(codes, labels)); },
      [](double score) { return score; });
  time(
      "t-SNE", [&] { return cpl::tsne(x, cpl::TsneOptions(), {}); },
      [&](const at::Tensor& map) { return cpl::trustworthiness(x, map, 5); });
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    std::cerr << "usage: eval_times FEATURES.npy LABELS.npy CODES.npy THREADS ONLY\n";
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "eval_times: " << error.what() << "\n";
    return 1;
  }
}
