#include "cplearn/ssl/method.h"

#include <torch/torch.h>

#include <chrono>

#include "cplearn/base/error.h"
#include "cplearn/ssl/method_options.h"

namespace cpl {

std::shared_ptr<Method> make_method(const std::string& name, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  find_method(name);  // or an error that lists the names
  std::shared_ptr<Method> made;
  const auto make_if = [&](const auto& own) {
    if (own.kRow.name == name) made = make_method(own, make_backbone, options);
  };
  std::apply([&](const auto&... own) { (make_if(own), ...); }, options.each());
  return made;
}

std::size_t Views::count() const {
  std::int64_t total = 0;
  for (const Crops& crops : sizes) total += crops.views;
  return static_cast<std::size_t>(total);
}

std::vector<std::pair<std::size_t, std::size_t>> Views::pairs() const {
  const std::size_t views = count();
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(globals), views); ++i) {
    for (std::size_t j = i + 1; j < views; ++j) result.emplace_back(i, j);
  }
  return result;
}

StepResult::StepResult(const NamedLoss& loss) : total(loss.total) {
  for (const auto& [name, value] : loss.terms) terms.emplace_back(name, value.item<double>());
}

StepResult mean_over_pairs(const Views& views,
                           const std::function<NamedLoss(std::size_t i, std::size_t j)>& compare) {
  const auto pairs = views.pairs();
  const auto count = static_cast<double>(pairs.size());
  StepResult result;
  for (const auto& [i, j] : pairs) {
    const NamedLoss loss = compare(i, j);
    result.total = result.total.defined() ? result.total + loss.total : loss.total;
    if (result.terms.empty()) {
      for (const auto& [name, value] : loss.terms) result.terms.emplace_back(name, 0);
    }
    for (std::size_t k = 0; k < loss.terms.size(); ++k)
      result.terms[k].second += loss.terms[k].second.item<double>() / count;
  }
  if (pairs.size() > 1) result.total = result.total / count;
  return result;
}

Method::Method(const BackboneMaker& make_backbone)
    : backbone_(register_module("backbone", make_backbone())) {}

CodeAssignment Method::assign(const at::Tensor& z) {
  CPL_CHECK(codes() > 0, "this method has no codes: use k-means on its embeddings");
  const at::NoGradGuard no_grad;
  const auto [value, code] = log_probabilities(z).max(1);
  return {code.cpu(), value.exp().cpu()};
}

at::Tensor Method::encode_images(Backbone& backbone, const at::Tensor& images) {
  const auto start = std::chrono::steady_clock::now();
  at::Tensor z = encode(backbone, images, encoding_);
  encode_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return z;
}

std::vector<at::Tensor> Method::encode_views(const Views& views) {
  CPL_CHECK(views.count() >= 2, "a method compares at least 2 views of an image, got ",
            views.count(), ": use --views 2");
  std::vector<at::Tensor> result;
  for (const Crops& crops : views.sizes) {
    for (at::Tensor& z : encode_images(*backbone_, crops.images).chunk(crops.views))
      result.push_back(std::move(z));
  }
  return result;
}

}  // namespace cpl
