#pragma once
// What can be asked of a finished run, without torch: each option once (base/options.h).

#include <cstdint>
#include <string>

#include "cplearn/base/options.h"

namespace cpl {

// study/evaluation.h
enum class BatchNormMode { kRunning, kBatch };
inline const Names<BatchNormMode> kBatchNormNames = {{"running", BatchNormMode::kRunning},
                                                     {"batch", BatchNormMode::kBatch}};

struct EvaluationOptions {
  std::string data;
  std::string test;
  bool baselines = false;
  bool paper_probe = false;
  BatchNormMode batch_norm = BatchNormMode::kRunning;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("data", data, "labelled images to fit the probe on; default: those the run was trained on");
    v("test", test, "labelled images to score on; default: the run's own --test");
    v("baselines", baselines, "also score the untrained encoder, and the pixels themselves");
    v("paper-probe", paper_probe,
      "the paper's probe (Adam 1e-2, 100 epochs) instead of logistic regression");
    v("bn", batch_norm,
      "batch norms use the training's running statistics, or each batch's own (64 images, as the "
      "authors' script does)",
      kBatchNormNames);
  }
};

// study/diagnosis.h
struct DiagnosisOptions {
  std::int64_t images = 5000;
  bool untrained = true;
  bool entropy = true;
  bool full = false;
  bool padded = false;
  std::uint64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("images", images, "look at so many images at most, drawn by the run's seed", AtLeast{2});
    v("untrained", untrained, "compare with the same network before its training");
    v("entropy", entropy, "fit mixtures and estimate entropies, the costly part");
    v("full", full, "entropies for all the paper's mixtures, 10 to 1000 components, not up to 200");
    v("padded", padded,
      "also the entropy of embeddings padded with zeros to width 2048, as published");
  }
};

// study/cluster_files.h
struct ClusterOptions {
  std::int64_t k = 0;
  bool links = false;
  std::int64_t page_clusters = 100;
  std::int64_t page_images = 30;
  std::uint64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("k", k, "number of clusters, to which codes are merged; 0: each code is one", AtLeast{0});
    v("links", links, "also make a folder of symbolic links for each cluster");
    v("page-clusters", page_clusters, "clusters on the page, the largest ones", AtLeast{1});
    v("page-images", page_images, "pictures of each on the page", AtLeast{1});
  }
};

// study/feature_file.h: what is written of each image
enum class FeatureKind { kRepresentation, kEmbedding, kProbabilities, kCode };
inline const Names<FeatureKind> kFeatureKindNames = {
    {"representation", FeatureKind::kRepresentation},
    {"embedding", FeatureKind::kEmbedding},
    {"probabilities", FeatureKind::kProbabilities},
    {"code", FeatureKind::kCode}};

}  // namespace cpl
