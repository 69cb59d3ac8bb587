#include "cplearn/study/run_diagnosis.h"

#include "cplearn/base/file.h"
#include "cplearn/eval/tsne.h"
#include "cplearn/study/gallery.h"
#include "cplearn/study/run_data.h"

namespace cpl {

RunDiagnosis diagnose_saved_run(const std::string& path, const std::string& data,
                                const DiagnosisOptions& options, bool maps,
                                const DiagnosisProgress& progress) {
  Run run = open_run(path);
  const auto [spec, images] = open_run_data(run, data, options.images);
  const std::unique_ptr<Dataset> whole = open_as_in_training(run, spec);
  const auto total = static_cast<std::int64_t>(images->size());
  const Features features =
      extract_features(*run.method, *images, run.views, FeatureOptions(),
                       [&](std::int64_t done) { progress("images", done, total); });
  RunDiagnosis found;
  found.diagnosis = diagnose_run(run, *whole, *images, features, options, progress);
  found.diagnosis.run = path;
  found.diagnosis.data = spec;
  if (maps) {
    GalleryOptions gallery;
    gallery.seed = options.seed;
    const int iterations = TsneOptions().iterations;
    found.gallery = make_gallery(features, *images, gallery,
                                 [&](int done) { progress("t-SNE", done, iterations); });
  }
  return found;
}

void write_run_diagnosis(const RunDiagnosis& found, const std::string& folder) {
  // The diagnosis last: where it is, nothing is missing.
  if (!found.gallery.is_null()) write_file(folder + "/gallery.json", found.gallery.dump() + "\n");
  write_file(folder + "/diagnosis.json", to_json(found.diagnosis).dump() + "\n");
}

}  // namespace cpl
