#pragma once
// Everything `cplearn diagnose` finds out about a run, without labels where it can: the four
// collapses, the certificate of the paper's lemma, spectra, entropies, code usage, and the terms of
// the generalisation bound. diagnosis.json is what pages and comparisons are made from.

#include <ATen/core/Tensor.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/eval/code_usage.h"
#include "cplearn/eval/judge.h"
#include "cplearn/eval/spectrum.h"
#include "cplearn/eval/vital_signs.h"
#include "cplearn/study/study_options.h"
#include "cplearn/train/features.h"
#include "cplearn/train/run.h"

namespace cpl {

struct Spectrum {
  std::vector<double> centred, uncentred;
  double effective_rank = 0;  // of the centred one
  PowerLaw power_law;         // of the centred one
};

// eval/measures.h; not a number where it takes views.
struct Measures {
  double rankme = 0, alpha = 0, nesum = 0, self_cluster = 0;
  double intrinsic_dimension = VitalSigns::kUnknown;  // from 32 rows on
  double lidar = VitalSigns::kUnknown;
};

struct EntropyCurve {
  std::int64_t width = 0;
  std::vector<double> nats, standard_error;  // one per number of components
};

// The mean over features of |mean| and of the standard deviation.
struct Moments {
  double mean = 0, deviation = 0;
};

// The paper's appendix "Generalization to Supervised Linear Downstream Task".
struct BoundTerms {
  std::optional<double> view_distance;   // (1/n) sum_i |g(x_i) - g(x_i')|
  std::int64_t rank = 0;                 // of Z'Z, Z the representations
  std::optional<double> label_residual;  // |(I - Z (Z'Z)^+ Z') Y|_F / sqrt(m)
};

struct Diagnosis {
  std::string run, data;
  std::int64_t images = 0, codes = 0, width = 0;
  Judgement judgement;
  std::string remedy;  // what to change if it is collapsed; empty where settings are not known
  std::optional<Certificate> certificate;
  std::string certificate_words;
  VitalSigns signs;
  std::optional<VitalSigns> signs_before;
  // By name: "representation" (if there is one beside it) and "embedding".
  std::vector<std::pair<std::string, Spectrum>> spectra;
  std::vector<std::pair<std::string, Measures>> measures;
  std::vector<std::int64_t> components;
  std::vector<std::pair<std::string, EntropyCurve>> entropy;  // and "padded"
  at::Tensor covariance, adjacency;                           // small, for pictures
  std::int64_t covariance_of = 0, adjacency_of = 0;
  std::vector<std::int64_t> usage;  // images of each code in use, most first; empty without codes
  std::vector<std::pair<std::string, Moments>> statistics;
  BoundTerms bound;
};

// Told what is being done, and how far it is: 0 of `total` begins a stage.
using DiagnosisProgress =
    std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

// `features`: what the run makes of `data` (extract_features), all of `whole` or a part of it; the
// judge looks at the whole. Augmented views are made here.
Diagnosis diagnose_run(Run& run, const Dataset& whole, const Dataset& data,
                       const Features& features, const DiagnosisOptions& options,
                       const DiagnosisProgress& progress);

// Embeddings from any tool (n x d), with labels or without (empty; -1 where not known).
Diagnosis diagnose_embeddings(const at::Tensor& embeddings, const Labels& labels,
                              const DiagnosisOptions& options, const DiagnosisProgress& progress);

nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

// |(I - Z (Z'Z)^+ Z') Y|_F / sqrt(m) over the rows with a label, Y their one-hot classes; none
// without labels. `z`: n x f.
std::optional<double> label_residual(const at::Tensor& z, const Labels& labels);

}  // namespace cpl
