// diagnosis.json, the file that reports and comparisons are made from.

#include <torch/types.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cplearn/study/diagnosis.h"

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;

// 5 significant digits: files for pictures need no more, and stay small.
double shorter(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return std::strtod(text, nullptr);
}

Json shorter(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(shorter(value));
  return list;
}

Json to_json(const at::Tensor& matrix) {
  const at::Tensor m = matrix.to(at::kDouble).contiguous();
  Json rows = Json::array();
  for (std::int64_t i = 0; i < m.size(0); ++i) {
    const double* row = m.data_ptr<double>() + i * m.size(1);
    rows.push_back(shorter(std::vector<double>(row, row + m.size(1))));
  }
  return rows;
}

Json to_json(const Finding& f, const std::string& remedy) {
  const bool mend = f.verdict == Verdict::kCollapsed && !remedy.empty();
  return {{"value", f.value},
          {"threshold", f.threshold},
          {"verdict", verdict_name(f.verdict)},
          {"words", f.words},
          {"advice", mend ? "use " + remedy : ""}};
}

// Numbers that are not known are null, which JSON has no other word for.
Json known(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const VitalSigns& signs) {
  Json out;
  visit(signs, [&](const char* name, double value) { out[name] = known(value); });
  return out;
}

Json to_json(const Measures& m) {
  return {{"rankme", m.rankme},
          {"lidar", known(m.lidar)},
          {"alpha_req", m.alpha},
          {"nesum", m.nesum},
          {"self_cluster", m.self_cluster},
          {"intrinsic_dimension", known(m.intrinsic_dimension)}};
}

Json to_json(const Spectrum& s) {
  return {{"centred", shorter(s.centred)},
          {"uncentred", shorter(s.uncentred)},
          {"effective_rank", s.effective_rank},
          {"alpha", s.power_law.alpha},
          {"alpha_fit", s.power_law.fit}};
}

Json usage_json(const Diagnosis& d) {
  if (d.usage.empty()) return nullptr;
  return {{"codes_used", d.usage.size()},
          {"perplexity", std::exp(entropy_of_sizes(d.usage))},
          {"counts", d.usage}};
}

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json to_json(const Diagnosis& d) {
  Json out = {{"run", d.run},
              {"data", d.data},
              {"images", d.images},
              {"codes", d.codes},
              {"width", d.width},
              {"verdict", verdict_name(d.judgement.verdict)},
              {"summary", d.judgement.summary()},
              {"verdict_record", d.signs_before ? verdict_record(d.judgement) : ""}};
  for (const Finding* finding : d.judgement.findings())
    out[finding->name] = to_json(*finding, d.remedy);
  out["certificate"] = nullptr;
  if (d.certificate) {
    out["certificate"] = {
        {"information", d.certificate->information},
        {"information_limit", d.certificate->information_limit},
        {"agreement", known(d.signs.agreement)},
        {"agreement_untrained", d.signs_before ? known(d.signs_before->agreement) : Json(nullptr)},
        {"loss", d.certificate->loss},
        {"bound", d.certificate->bound},
        {"attainable", d.certificate->attainable},
        {"words", d.certificate_words}};
  }
  out["vital_signs"] = to_json(d.signs);
  if (d.signs_before) out["vital_signs_untrained"] = to_json(*d.signs_before);
  for (const auto& [name, measures] : d.measures) out["measures"][name] = to_json(measures);
  for (const auto& [name, spectrum] : d.spectra) out["spectra"][name] = to_json(spectrum);
  if (!d.entropy.empty()) {
    out["entropy"] = {{"components", d.components}};
    for (const auto& [name, curve] : d.entropy)
      out["entropy"][name] = {
          {"width", curve.width}, {"nats", curve.nats}, {"standard_error", curve.standard_error}};
  }
  out["covariance"] = {{"of", d.covariance_of}, {"values", to_json(d.covariance)}};
  out["adjacency"] = {{"of", d.adjacency_of}, {"values", to_json(d.adjacency)}};
  out["usage"] = usage_json(d);
  for (const auto& [name, moments] : d.statistics)
    out["statistics"][name] = {{"mean", moments.mean}, {"std", moments.deviation}};
  out["bound"] = {{"view_distance", optional(d.bound.view_distance)},
                  {"rank", d.bound.rank},
                  {"label_residual", optional(d.bound.label_residual)}};
  return out;
}

}  // namespace cpl
