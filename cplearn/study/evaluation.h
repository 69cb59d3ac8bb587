#pragma once
// What the codes and the representations of a finished run know about classes, beside what is to
// be beaten. `cplearn eval` and `cplearn reproduce` both ask here.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "cplearn/base/progress.h"
#include "cplearn/study/study_options.h"

namespace cpl {

// The scores, with the keys of `cplearn eval --json`; also written to eval.json in the run's
// directory. `path` is a run directory or one of its checkpoints, `seed` that of k-means and of the
// paper's probe. Methods without codes have no "nmi", "ami", ... of codes. Throws cpl::Error.
nlohmann::ordered_json evaluate_run(const std::string& path, const EvaluationOptions& options,
                                    std::uint64_t seed, Progress::Mode progress);

}  // namespace cpl
