// cplearn diagnose: is the model collapsed? Four verdicts with numbers and advice, the certificate,
// and two files for reports.

#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>

#include "cli/engine/commands.h"
#include "cplearn/base/file.h"
#include "cplearn/base/npy.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/study/run_diagnosis.h"

namespace cpl::cli {
namespace {

// One class per line or a .npy of integers; -1 is not known.
Labels read_labels(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".npy") {
    const NpyArray array = read_npy(path);
    CPL_CHECK(array.shape.size() == 1 && array.type[0] == 'i', path,
              ": labels are a single column of whole numbers (int32 or int64)");
    return array.values<std::int64_t>();
  }
  Labels labels;
  std::istringstream lines(read_file(path));
  std::string line;
  while (std::getline(lines, line)) {
    std::size_t used = 0;
    try {
      labels.push_back(std::stoll(line, &used));
      if (line.find_first_not_of(" \t\r", used) != std::string::npos) used = 0;
    } catch (const std::exception&) {
      labels.push_back(-1);
    }
    CPL_CHECK(used > 0, path, ":", labels.size(), ": expected a whole number, got '", line, "'");
  }
  return labels;
}

at::Tensor read_embeddings(const std::string& path) {
  const NpyArray array = read_npy(path);
  CPL_CHECK(array.shape.size() == 2, path, " has ", array.shape.size(),
            " dimensions, expected 2: a row of numbers per image");
  return torch::tensor(array.values<float>()).view({array.shape[0], array.shape[1]});
}

Diagnosis diagnose_file(const DiagnoseArguments& o, const DiagnosisProgress& progress) {
  at::Tensor x = read_embeddings(o.embeddings);
  Labels labels;
  if (!o.labels.empty()) labels = read_labels(o.labels);
  CPL_CHECK(labels.empty() || static_cast<std::int64_t>(labels.size()) == x.size(0), o.labels,
            " has ", labels.size(), " labels, but there are ", x.size(0), " embeddings");
  if (x.size(0) > o.diagnosis.images) {  // evenly
    std::vector<std::int64_t> rows;
    Labels kept;
    for (std::int64_t i = 0; i < o.diagnosis.images; ++i) {
      rows.push_back(i * x.size(0) / o.diagnosis.images);
      if (!labels.empty()) kept.push_back(labels[rows.back()]);
    }
    x = x.index_select(0, torch::tensor(rows, at::kLong));
    labels = kept;
  }
  Diagnosis found = diagnose_embeddings(x, labels, o.diagnosis, progress);
  found.data = o.embeddings;
  return found;
}

std::string measures_table(const Diagnosis& d) {
  TextTable table({"", "rank", "RankMe", "LiDAR", "alpha-ReQ", "NESum", "SelfCluster", "IdEst",
                   "entropy, nats (components)"});
  for (std::size_t i = 0; i < d.spectra.size(); ++i) {
    const auto& [name, spectrum] = d.spectra[i];
    const Measures& m = d.measures[i].second;
    std::string entropy = "-";
    for (const auto& [curve_name, curve] : d.entropy) {
      if (curve_name != name || curve.nats.empty()) continue;
      entropy = str(readable(curve.nats.front()), " (", d.components.front(), ") .. ",
                    readable(curve.nats.back()), " (", d.components.back(), ")");
    }
    const auto known = [](double value) { return std::isnan(value) ? "-" : readable(value); };
    table.add({name, readable(spectrum.effective_rank), readable(m.rankme), known(m.lidar),
               readable(m.alpha), readable(m.nesum), readable(m.self_cluster),
               known(m.intrinsic_dimension), entropy});
  }
  return table.str();
}

void print(const Diagnosis& d, const Common& common) {
  TextTable table({"collapse", "verdict", "value", "collapsed under", "what it means"});
  for (const Finding* f : d.judgement.findings())
    table.add(
        {f->name, verdict_name(f->verdict), readable(f->value), readable(f->threshold), f->words});
  common.say() << table.str() << "\n" << d.judgement.summary() << ".\n";
  if (d.signs_before)
    common.say() << "How sure is that? " << verdict_record(d.judgement) << " (docs/judge.md).\n";
  if (d.judgement.verdict == Verdict::kCollapsed && !d.remedy.empty())
    common.say() << "! use " << d.remedy << "\n";
  if (d.certificate) common.say() << "\nCertificate: " << d.certificate_words << ".\n";
  common.say() << "\n" << measures_table(d);
  if (!d.usage.empty())
    common.say() << "\n" << d.usage.size() << " of " << d.codes << " codes in use.\n";
  common.say() << "Generalisation bound: rank of Z'Z " << d.bound.rank;
  if (d.bound.view_distance)
    common.say() << ", distance between views " << readable(*d.bound.view_distance);
  if (d.bound.label_residual)
    common.say() << ", label residual " << readable(*d.bound.label_residual);
  common.say() << ".\n";
}

DiagnosisProgress show_in(StageProgress& bars) {
  return [&bars](const char* what, std::int64_t done, std::int64_t total) {
    bars.update(what, done, total);
  };
}

}  // namespace

int run_diagnose(const DiagnoseArguments& arguments, const Common& common) {
  DiagnoseArguments o = arguments;
  o.diagnosis.seed = common.seed;
  StageProgress bars(common.progress());
  const DiagnosisProgress progress = show_in(bars);
  // A run keeps what is said about it; anything else goes where it is asked for.
  std::string out = o.out;
  if (out.empty() && !o.run.empty() && file_exists(RunFiles(o.run).config())) out = o.run;
  if (!out.empty()) std::filesystem::create_directories(out);

  RunDiagnosis found;
  if (!o.embeddings.empty()) {
    found.diagnosis = diagnose_file(o, progress);
  } else {
    found = diagnose_saved_run(o.run, o.data, o.diagnosis, o.maps && !out.empty(), progress);
  }
  if (!out.empty()) write_run_diagnosis(found, out);
  common.say() << (o.run.empty() ? o.embeddings : o.run) << ": " << found.diagnosis.images
               << " images of " << printable(found.diagnosis.data) << ", width "
               << found.diagnosis.width << "\n\n";
  print(found.diagnosis, common);
  if (!out.empty())
    common.say() << "Written: " << out << "/diagnosis.json"
                 << (found.gallery.is_null() ? "" : ", gallery.json") << "\n";
  common.result(to_json(found.diagnosis));
  return found.diagnosis.judgement.verdict == Verdict::kCollapsed ? kCollapsed : kSuccess;
}

void write_diagnosis(const std::string& run, const Common& common) {
  DiagnosisOptions options;
  options.seed = common.seed;
  StageProgress bars(common.progress());
  write_run_diagnosis(diagnose_saved_run(run, "", options, true, show_in(bars)), run);
}

}  // namespace cpl::cli
