#pragma once
// Features of a data set as NumPy files, streamed: memory does not grow with the images.

#include <string>

#include "cplearn/study/study_options.h"
#include "cplearn/train/features.h"

namespace cpl {

struct FeatureFile {
  std::int64_t rows = 0;
  std::int64_t columns = 1;  // 1 for codes, which have one dimension in the file
  std::string index;         // the CSV beside it: row, file, label, class
};

// `path` ends in .npy; the index gets the same name with .csv, and replaces nothing but an index.
// `progress` gets the images done.
FeatureFile write_features(Method& method, const Dataset& data, const AugmentOptions& views,
                           FeatureKind kind, const std::string& path,
                           const std::function<void(std::int64_t)>& progress);

}  // namespace cpl
