#pragma once
// A saved run diagnosed from its files on: `cplearn diagnose` and `cplearn reproduce` both ask
// here.

#include <nlohmann/json.hpp>
#include <string>

#include "cplearn/study/diagnosis.h"

namespace cpl {

struct RunDiagnosis {
  Diagnosis diagnosis;
  nlohmann::ordered_json gallery;  // null unless asked for
};

// `path`: a run directory or one of its checkpoints. `data` empty: what it was trained on. `maps`:
// also make the gallery. Throws cpl::Error.
RunDiagnosis diagnose_saved_run(const std::string& path, const std::string& data,
                                const DiagnosisOptions& options, bool maps,
                                const DiagnosisProgress& progress);

// diagnosis.json and, if there is one, gallery.json.
void write_run_diagnosis(const RunDiagnosis& found, const std::string& folder);

}  // namespace cpl
