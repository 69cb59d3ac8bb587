#include "cplearn/study/feature_file.h"

#include <torch/torch.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cplearn/base/csv.h"
#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/npy.h"

namespace cpl {
namespace {

constexpr const char* kIndexHeader = "row,file,label,class\n";

// Writes what is asked for of some representations, a part at a time where rows are long.
class RowWriter {
 public:
  RowWriter(Method& method, FeatureKind kind, const std::string& path)
      : method_(method), kind_(kind), path_(path) {}

  void write(const at::Tensor& z) {
    switch (kind_) {
      case FeatureKind::kRepresentation:
        return append(z);
      case FeatureKind::kEmbedding:
        return append(method_.embed(z));
      case FeatureKind::kCode:
        return append(method_.assign(z).code);
      case FeatureKind::kProbabilities:
        break;
    }
    for (const at::Tensor& rows : z.split(rows_at_once(method_.codes())))
      append(method_.log_probabilities(rows).exp());
  }

  FeatureFile finish() {
    file_->commit();
    return {file_->rows(), columns_, ""};
  }

 private:
  void append(const at::Tensor& values) {
    const at::Tensor rows = values.contiguous();
    const bool codes = rows.dim() == 1;
    if (!file_) {
      columns_ = codes ? 1 : rows.size(1);
      file_ = std::make_unique<NpyWriter>(path_, codes ? "i8" : "f4", codes ? 0 : columns_);
    }
    file_->append(rows.data_ptr(), rows.size(0));
  }

  Method& method_;
  FeatureKind kind_;
  std::string path_;
  std::int64_t columns_ = 0;
  std::unique_ptr<NpyWriter> file_;  // known once the first rows are
};

// The index has a name that nobody gave it: what stands there is replaced only if it is an index.
void check_index(const std::string& path) {
  if (!file_exists(path)) return;
  std::string first(std::strlen(kIndexHeader), '\0');
  std::ifstream(path, std::ios::binary)
      .read(first.data(), static_cast<std::streamsize>(first.size()));
  CPL_CHECK(first == kIndexHeader, path,
            " is there already and is not a list of images made by 'cplearn embed', which would go "
            "there: move it, or choose another --out");
}

}  // namespace

FeatureFile write_features(Method& method, const Dataset& data, const AugmentOptions& views,
                           FeatureKind kind, const std::string& path,
                           const std::function<void(std::int64_t)>& progress) {
  const std::filesystem::path target(path);
  CPL_CHECK(target.extension() == ".npy", "the file of features must end in .npy, got '", path,
            "'");
  const bool of_codes = kind == FeatureKind::kCode || kind == FeatureKind::kProbabilities;
  CPL_CHECK(!of_codes || method.codes() > 0,
            "this method has no codes: ask for --what representation or embedding");
  std::filesystem::path index_path = target;
  index_path.replace_extension(".csv");
  check_index(index_path.string());
  OutputFile index(index_path.string());
  index.append(kIndexHeader);
  RowWriter writer(method, kind, path);
  std::int64_t rows = 0;
  stream_features(method, data, views, FeatureOptions(),
                  [&](const at::Tensor& z, const Batch& batch) {
                    writer.write(z);
                    std::string lines;
                    for (std::size_t i = 0; i < batch.size(); ++i, ++rows) {
                      const std::int64_t label = batch.labels[i];
                      lines += str(rows, ",", csv_field(data.name(batch.images[i])), ",", label,
                                   ",", label < 0 ? "" : csv_field(data.classes()[label]), "\n");
                    }
                    index.append(lines);
                    if (progress) progress(rows);
                  });
  FeatureFile result = writer.finish();
  index.commit();
  result.index = index_path.string();
  return result;
}

}  // namespace cpl
