#include "cplearn/ssl/cplearn.h"

#include <torch/torch.h>

#include <algorithm>

#include "cplearn/base/error.h"
#include "cplearn/nn/code_head.h"

namespace cpl {
namespace {

class Cplearn : public Method {
 public:
  Cplearn(std::shared_ptr<Backbone> backbone, const CodeHeadOptions& options)
      : Method(std::move(backbone)),
        head_(register_module("head", CodeHead(Method::backbone().features(), options))) {}

  StepResult step(const Views& views, const Position&) override {
    const std::vector<at::Tensor> z = encode_views(views);
    CPL_CHECK(z.size() >= 2, "cplearn compares at least 2 views, got ", z.size());
    std::vector<at::Tensor> h;
    for (const at::Tensor& view : z) h.push_back(head_->embed(view));

    StepResult result;
    double invariance = 0, prior = 0, pairs = 0;
    const auto globals = std::min(static_cast<std::size_t>(views.globals), h.size());
    for (std::size_t i = 0; i < globals; ++i) {
      for (std::size_t j = i + 1; j < h.size(); ++j, ++pairs) {
        const CodeLoss loss = head_->compare(h[i], h[j]);
        result.total = pairs > 0 ? result.total + loss.total : loss.total;
        invariance += loss.invariance.item<double>();
        prior += loss.prior.item<double>();
        if (pairs == 0) {
          result.entropy = loss.entropy.item<double>();
          result.cross_entropy = loss.invariance.item<double>();
          result.usage = loss.mean.mean(0);
        }
      }
    }
    if (pairs > 1) result.total = result.total / pairs;
    result.terms = {{"invariance", invariance / pairs}, {"prior", prior / pairs}};
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return head_->embed(z); }
  CodeAssignment assign(const at::Tensor& z) override { return head_->assign(z); }
  at::Tensor log_probabilities(const at::Tensor& z) override { return head_->log_probabilities(z); }
  std::vector<std::pair<std::string, at::Tensor>> layers(const at::Tensor& z) override {
    return head_->layers(z);
  }
  std::int64_t codes() const override { return head_->options().codes; }
  void set_workers(WorkerGroup& workers) override {
    Method::set_workers(workers);
    head_->set_workers(workers);
  }

 private:
  CodeHead head_;
};

}  // namespace

std::shared_ptr<Method> make_cplearn(std::shared_ptr<Backbone> backbone,
                                     const MethodOptions& options) {
  return std::make_shared<Cplearn>(std::move(backbone), options.head);
}

}  // namespace cpl
