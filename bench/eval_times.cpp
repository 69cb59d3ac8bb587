// Times the library's evaluations on one set of features; bench/sklearn_compare.py runs it beside
// scikit-learn.
//   eval_times FEATURES.npy LABELS.npy CODES.npy THREADS     prints a JSON object of seconds and
//   results

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cplearn/base/npy.h"
#include "cplearn/eval/accuracy.h"
#include "cplearn/eval/cluster_scores.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/eval/linear_probe.h"
#include "cplearn/eval/mixture.h"
#include "cplearn/eval/tsne.h"

namespace {

template <class Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(char** arguments) {
  const cpl::NpyArray array = cpl::read_npy(arguments[1]);
  const at::Tensor x =
      torch::tensor(array.values<float>()).view({array.shape.at(0), array.shape.at(1)});
  const cpl::Labels labels = cpl::read_npy(arguments[2]).values<std::int64_t>();
  const cpl::Labels codes = cpl::read_npy(arguments[3]).values<std::int64_t>();
  at::set_num_threads(std::atoi(arguments[4]));
  std::int64_t classes = 0;
  for (const std::int64_t label : labels) classes = std::max(classes, label + 1);

  nlohmann::ordered_json out;
  const auto record = [&](const char* name, double took, double result) {
    out[name] = {{"seconds", took}, {"result", result}};
  };
  cpl::LinearProbe probe;
  const double probe_seconds = seconds(
      [&] { probe = cpl::fit_logistic_probe(x, labels, classes, cpl::LogisticProbeOptions()); });
  record("linear probe", probe_seconds, probe.train_loss);
  cpl::Mixture mixture;
  cpl::MixtureOptions mixture_options;
  mixture_options.components = 200;
  const double mixture_seconds = seconds([&] { mixture = cpl::fit_mixture(x, mixture_options); });
  record("mixture of 200", mixture_seconds, mixture.log_likelihood);
  cpl::KMeans clusters;
  cpl::KMeansOptions kmeans_options;
  kmeans_options.clusters = classes;
  const double kmeans_seconds = seconds([&] { clusters = cpl::kmeans(x, kmeans_options); });
  record("k-means", kmeans_seconds, clusters.inertia);
  double ami = 0;
  const double ami_seconds =
      seconds([&] { ami = cpl::adjusted_mutual_information(cpl::contingency(codes, labels)); });
  record("AMI", ami_seconds, ami);
  const double tsne_seconds = seconds([&] { cpl::tsne(x, cpl::TsneOptions(), {}); });
  record("t-SNE", tsne_seconds, 0);
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::cerr << "usage: eval_times FEATURES.npy LABELS.npy CODES.npy THREADS\n";
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "eval_times: " << error.what() << "\n";
    return 1;
  }
}
