#include "cplearn/train/features.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/data/loader.h"

namespace cpl {
namespace {

constexpr int kBatch = 256;
constexpr int kLoaderThreads = 1;

// Calls take(images n x 3 x side x side, channels last) for each batch; collects labels and
// indices.
template <class Take>
void for_each_batch(const Dataset& data, const AugmentOptions& views, Features& result, Take take) {
  Loader loader(data, views, evaluation_pass(kBatch, kLoaderThreads));
  Batch batch;
  while (loader.next(batch)) {
    if (batch.size() == 0) continue;
    ViewGroup& group = batch.groups.front();
    const auto rows = static_cast<std::int64_t>(batch.size());
    take(torch::from_blob(group.pixels.data(), {rows, group.size, group.size, 3})
             .permute({0, 3, 1, 2}));
    result.labels.insert(result.labels.end(), batch.labels.begin(), batch.labels.end());
    result.images.insert(result.images.end(), batch.images.begin(), batch.images.end());
  }
  CPL_CHECK(!result.images.empty(), "none of the ", data.size(),
            " images can be read; 'cplearn data verify' lists what is wrong with them");
}

}  // namespace

Features Features::labelled() const {
  std::vector<std::int64_t> rows;
  Features result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    rows.push_back(static_cast<std::int64_t>(i));
    result.labels.push_back(labels[i]);
    result.images.push_back(images[i]);
  }
  const at::Tensor index = torch::tensor(rows, at::kLong);
  const auto select = [&](const at::Tensor& t) {
    return t.defined() ? t.index_select(0, index) : t;
  };
  result.representations = select(representations);
  result.embeddings = select(embeddings);
  result.codes = select(codes);
  result.confidence = select(confidence);
  return result;
}

Features extract_features(Method& method, const Dataset& data, const AugmentOptions& views,
                          const std::function<void(std::int64_t)>& progress) {
  torch::NoGradGuard no_grad;
  method.eval();
  std::vector<at::Tensor> z, h, codes, confidence;
  Features result;
  for_each_batch(data, views, result, [&](const at::Tensor& images) {
    z.push_back(method.backbone().forward(images).to(at::kFloat));
    h.push_back(method.embed(z.back()));
    if (method.codes() > 0) {
      const CodeAssignment assigned = method.assign(z.back());
      codes.push_back(assigned.code);
      confidence.push_back(assigned.probability);
    }
    if (progress) progress(static_cast<std::int64_t>(result.images.size()) + images.size(0));
  });
  result.representations = torch::cat(z);
  result.embeddings = torch::cat(h);
  if (method.codes() > 0) {
    result.codes = torch::cat(codes);
    result.confidence = torch::cat(confidence);
  }
  return result;
}

Features extract_pixels(const Dataset& data, const AugmentOptions& views) {
  std::vector<at::Tensor> pixels;
  Features result;
  for_each_batch(data, views, result, [&](const at::Tensor& images) {
    pixels.push_back(images.contiguous().flatten(1));
  });
  result.representations = torch::cat(pixels);
  result.embeddings = result.representations;
  return result;
}

}  // namespace cpl
