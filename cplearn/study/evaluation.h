#pragma once
// What the codes and the representations of a finished run know about classes, beside what is to
// be beaten. `cplearn eval` and `cplearn reproduce` both ask here.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "cplearn/base/options.h"
#include "cplearn/base/progress.h"

namespace cpl {

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

// The scores, with the keys of `cplearn eval --json`; also written to eval.json in the run's
// directory. `path` is a run directory or one of its checkpoints, `seed` that of k-means and of the
// paper's probe. Methods without codes have no "nmi", "ami", ... of codes. Throws cpl::Error.
nlohmann::ordered_json evaluate_run(const std::string& path, const EvaluationOptions& options,
                                    std::uint64_t seed, Progress::Mode progress);

}  // namespace cpl
