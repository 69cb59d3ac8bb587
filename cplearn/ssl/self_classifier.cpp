#include "cplearn/ssl/self_classifier.h"

#include <torch/torch.h>

#include <cmath>

#include "cplearn/dist/gather.h"
#include "cplearn/nn/mlp.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/probabilities.h"

namespace cpl {
namespace {

class SelfClassifier : public Method {
 public:
  SelfClassifier(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone), options_(options.own<SelfClassifierOptions>()) {
    const std::int64_t features = student().features();
    head_ = register_module(
        "head",
        PrototypeHead(features, PrototypeHeadOptions{options.hidden_or(features), 1, options_.width,
                                                     options.head.codes, MlpKind::kBatchNorm}));
  }

  StepResult step(const Views& views, const Position&) override {
    const std::vector<at::Tensor> z = encode_views(views);
    std::vector<at::Tensor> h, scores;
    for (const at::Tensor& view : z) {
      h.push_back(head_->embed(view));
      scores.push_back(head_->scores(gather_rows(h.back(), workers())));
    }
    StepResult result = mean_over_pairs(views, [&](std::size_t i, std::size_t j) {
      return self_classifier_loss(scores[i], scores[j], options_);
    });
    describe_codes(log_softmax(scores[0]), log_softmax(scores[1]), result);
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return head_->embed(z); }
  at::Tensor log_probabilities(const at::Tensor& z) override {
    return log_softmax(head_->scores(embed(z)));
  }
  std::int64_t codes() const override { return head_->codes(); }

 private:
  at::Tensor log_softmax(const at::Tensor& scores) const {
    return (scores / options_.row_temperature).log_softmax(1);
  }

  SelfClassifierOptions options_;
  PrototypeHead head_{nullptr};
};

}  // namespace

NamedLoss self_classifier_loss(const at::Tensor& s0, const at::Tensor& s1,
                               const SelfClassifierOptions& options) {
  // Dividing by a sum is subtracting its logarithm: a second softmax, along the other side.
  const auto target = [&](const at::Tensor& s) {
    return (s / options.column_temperature).log_softmax(0).softmax(1);
  };
  const double balance =
      std::log(static_cast<double>(s0.size(0)) / static_cast<double>(s0.size(1)));
  const auto log_prediction = [&](const at::Tensor& s) {
    return (s / options.row_temperature).log_softmax(1).log_softmax(0) + balance;
  };
  const at::Tensor total = 0.5 * (cross_entropy(target(s1), log_prediction(s0)) +
                                  cross_entropy(target(s0), log_prediction(s1)));
  return {total, {{"classification", total.detach()}}};
}

std::shared_ptr<Method> make_method(const SelfClassifierOptions& /*own*/,
                                    const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<SelfClassifier>(make_backbone, options);
}

}  // namespace cpl
