#include "cplearn/train/features.h"

#include <torch/torch.h>

#include <algorithm>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

constexpr int kLoaderThreads = 1;
constexpr std::int64_t kProbabilities = std::int64_t{1} << 22;  // held at once: 16 MB

// Calls take(images (views * n) x 3 x side x side in channels-last memory, batch) for each batch.
template <class Take>
void for_each_batch(const Dataset& data, const AugmentOptions& views, int size, Take take) {
  Loader loader(data, views, evaluation_pass(size, kLoaderThreads));
  Batch batch;
  std::size_t images = 0;
  while (loader.next(batch)) {
    if (batch.size() == 0) continue;
    images += batch.size();
    ViewGroup& group = batch.groups.front();
    const auto rows = static_cast<std::int64_t>(batch.size()) * group.views;
    take(torch::from_blob(group.pixels.data(), {rows, group.size, group.size, 3})
             .permute({0, 3, 1, 2}),
         batch);
  }
  CPL_CHECK(images > 0, "none of the ", data.size(),
            " images can be read; 'cplearn data verify' lists what is wrong with them");
}

void remember(const Batch& batch, Features& features) {
  features.labels.insert(features.labels.end(), batch.labels.begin(), batch.labels.end());
  features.images.insert(features.images.end(), batch.images.begin(), batch.images.end());
}

}  // namespace

void use_batch_statistics(Method& method, bool use) {
  for (const auto& module : method.modules(false)) {
    if (module->as<torch::nn::BatchNorm1d>() || module->as<torch::nn::BatchNorm2d>())
      module->train(use);
  }
}

void stream_features(Method& method, const Dataset& data, const AugmentOptions& views,
                     const FeatureOptions& options, const TakeFeatures& take) {
  const torch::NoGradGuard no_grad;
  method.eval();
  for_each_batch(data, views, options.batch, [&](const at::Tensor& images, const Batch& batch) {
    // The last image may be alone: it has no statistics.
    if (options.batch_statistics) use_batch_statistics(method, images.size(0) > 1);
    take(method.backbone().forward(images).to(at::kFloat), batch);
  });
  method.eval();
}

std::int64_t rows_at_once(std::int64_t codes) {
  return std::max<std::int64_t>(kProbabilities / codes, 1);
}

std::vector<std::int64_t> Features::code_list() const {
  if (!codes.defined()) return {};
  const at::Tensor list = codes.contiguous();
  return {list.data_ptr<std::int64_t>(), list.data_ptr<std::int64_t>() + list.numel()};
}

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
                          const FeatureOptions& options,
                          const std::function<void(std::int64_t)>& progress) {
  std::vector<at::Tensor> z, h, codes, confidence;
  Features result;
  stream_features(method, data, views, options, [&](const at::Tensor& rows, const Batch& batch) {
    z.push_back(rows);
    h.push_back(method.embed(rows));
    if (method.codes() > 0) {
      const CodeAssignment assigned = method.assign(rows);
      codes.push_back(assigned.code);
      confidence.push_back(assigned.probability);
    }
    remember(batch, result);
    if (progress) progress(static_cast<std::int64_t>(result.images.size()));
  });
  result.representations = torch::cat(z);
  result.embeddings = torch::cat(h);
  if (!codes.empty()) {
    result.codes = torch::cat(codes);
    result.confidence = torch::cat(confidence);
  }
  return result;
}

Features extract_pixels(const Dataset& data, const AugmentOptions& views) {
  constexpr int kBatch = 256;
  std::vector<at::Tensor> pixels;
  Features result;
  for_each_batch(data, views, kBatch, [&](const at::Tensor& images, const Batch& batch) {
    pixels.push_back(images.contiguous().flatten(1));
    remember(batch, result);
  });
  result.representations = torch::cat(pixels);
  result.embeddings = result.representations;
  return result;
}

}  // namespace cpl
