#include "cplearn/ssl/swav.h"

#include <torch/torch.h>

#include "cplearn/dist/gather.h"
#include "cplearn/nn/mlp.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/probabilities.h"

namespace cpl {
namespace {

class Swav : public Method {
 public:
  Swav(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone), options_(options.own<SwavOptions>()) {
    const std::int64_t features = student().features();
    head_ = register_module(
        "head",
        PrototypeHead(features, PrototypeHeadOptions{options.hidden_or(features), 1, options_.width,
                                                     options.head.codes, MlpKind::kBatchNorm}));
    queue_ = register_buffer("queue", torch::zeros({options_.queue, options_.width}));
    queued_ = register_buffer("queued", torch::zeros({}, at::kLong));
  }

  StepResult step(const Views& views, const Position& position) override {
    const std::vector<at::Tensor> z = encode_views(views);
    const bool frozen = position.opening(options_.freeze) < 1;
    std::vector<at::Tensor> h, scores, targets;
    for (const at::Tensor& view : z) {
      h.push_back(head_->embed(view));
      scores.push_back(head_->scores(h.back(), frozen));
    }
    for (std::int64_t i = 0; i < views.globals; ++i)
      targets.push_back(assign_balanced(h[static_cast<std::size_t>(i)].detach(), position));

    StepResult result;
    result.total = prediction_loss(targets, scores, options_.temperature);
    result.terms = {{"prediction", result.total.item<double>()}};
    describe_codes(log_softmax(scores[0]), log_softmax(scores[1]), result);
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    remember(result.embeddings);
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return head_->embed(z); }
  at::Tensor log_probabilities(const at::Tensor& z) override {
    return log_softmax(head_->scores(embed(z)));
  }
  std::int64_t codes() const override { return head_->codes(); }

 private:
  at::Tensor log_softmax(const at::Tensor& scores) const {
    return (scores / options_.temperature).log_softmax(1);
  }

  // Targets for the rows of this worker, balanced together with the other workers' and the queue.
  at::Tensor assign_balanced(const at::Tensor& h, const Position& position) {
    const at::NoGradGuard no_grad;
    at::Tensor rows = gather_rows(h, workers());
    if (options_.queue > 0 && position.opening(options_.queue_from) >= 1) {
      const std::int64_t filled = std::min(queued_.item<std::int64_t>(), options_.queue);
      rows = torch::cat({rows, queue_.narrow(0, 0, filled)});
    }
    const at::Tensor q = sinkhorn(head_->scores(rows), options_.epsilon, options_.iterations);
    return own_rows(q, h.size(0), workers());
  }

  // The newest rows replace the oldest. All workers keep the same queue, so that any can save it.
  void remember(const at::Tensor& h) {
    const at::NoGradGuard no_grad;
    const at::Tensor rows = gather_rows(h, workers());
    const std::int64_t count = std::min(rows.size(0), options_.queue);
    if (count == 0) return;
    const at::Tensor places =
        (torch::arange(count, queued_.options()) + queued_).remainder(options_.queue);
    queue_.index_copy_(0, places, rows.narrow(0, 0, count));
    queued_ += count;
  }

  SwavOptions options_;
  PrototypeHead head_{nullptr};
  at::Tensor queue_;   // rows x width: embeddings of the first view
  at::Tensor queued_;  // rows ever written
};

}  // namespace

at::Tensor sinkhorn(const at::Tensor& scores, double epsilon, std::int64_t iterations) {
  at::Tensor log_q = scores / epsilon;
  const double column =
      std::log(static_cast<double>(scores.size(0)) / static_cast<double>(scores.size(1)));
  for (std::int64_t i = 0; i < iterations; ++i) {
    log_q = log_q - log_q.logsumexp(0, /*keepdim=*/true) + column;
    log_q = log_q - log_q.logsumexp(1, /*keepdim=*/true);
  }
  return log_q.exp();
}

std::shared_ptr<Method> make_method(const SwavOptions& /*own*/, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<Swav>(make_backbone, options);
}

}  // namespace cpl
