// CPLearn: a projector and a frozen dictionary behind a backbone (nn/code_head.h); the loss of
// nn/code_loss.h between views. With more than two views it is averaged over all pairs of a full
// view with another one, each pair once.
//
// Sansone, Lebailly, Tuytelaars, "Collapse-Proof Non-Contrastive Self-Supervised Learning", ICML
// 2025.

#include <torch/torch.h>

#include "cplearn/nn/code_head.h"
#include "cplearn/nn/view_correlation.h"
#include "cplearn/ssl/method.h"
#include "cplearn/ssl/method_options.h"

namespace cpl {
namespace {

class Cplearn : public Method {
 public:
  Cplearn(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone),
        head_(register_module("head", CodeHead(student().features(), options.head))) {}

  StepResult step(const Views& views, const Position&) override {
    const std::vector<at::Tensor> z = encode_views(views);
    std::vector<at::Tensor> h;
    for (const at::Tensor& view : z) h.push_back(head_->embed(view));
    CodeLoss first;
    StepResult result = mean_over_pairs(views, [&](std::size_t i, std::size_t j) {
      const CodeLoss loss = head_->compare(h[i], h[j]);
      if (i == 0 && j == 1) first = loss;
      return NamedLoss{loss.total, {{"invariance", loss.invariance}, {"prior", loss.prior}}};
    });
    result.terms.emplace_back("correlation",
                              view_correlation(h[0], h[1], workers()).item<double>());
    result.entropy = first.entropy.item<double>();
    result.cross_entropy = first.invariance.item<double>();
    result.usage = first.mean.mean(0);
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

std::shared_ptr<Method> make_method(const CplearnOptions& /*own*/,
                                    const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<Cplearn>(make_backbone, options);
}

std::shared_ptr<Method> make_method(const CplearnPaperOptions& /*own*/,
                                    const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<Cplearn>(make_backbone, options);
}

}  // namespace cpl
