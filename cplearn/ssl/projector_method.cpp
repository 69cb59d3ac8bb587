#include "cplearn/ssl/projector_method.h"

#include <torch/torch.h>

#include "cplearn/nn/mlp.h"
#include "cplearn/ssl/method_options.h"

namespace cpl {
namespace {

class ProjectorMethod : public Method {
 public:
  ProjectorMethod(const BackboneMaker& make_backbone, const MethodOptions& options, bool last_bias,
                  ViewsLoss loss)
      : Method(make_backbone), loss_(std::move(loss)) {
    const std::int64_t d = options.hidden_or(student().features());
    projector_ = register_module(
        "projector", make_mlp({student().features(), d, d, d}, MlpKind::kBatchNorm, last_bias));
  }

  StepResult step(const Views& views, const Position& position) override {
    const std::vector<at::Tensor> z = encode_views(views);
    std::vector<at::Tensor> h;
    for (const at::Tensor& view : z) h.push_back(embed(view));
    StepResult result = loss_({h, views, position, workers()});
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return projector_->forward(z); }

 private:
  ViewsLoss loss_;
  torch::nn::Sequential projector_{nullptr};
};

}  // namespace

ViewsLoss over_pairs(PairLoss loss) {
  return [loss = std::move(loss)](const EmbeddedViews& embedded) {
    return mean_over_pairs(embedded.views, [&](std::size_t i, std::size_t j) {
      return loss(embedded.h[i], embedded.h[j], embedded.workers);
    });
  };
}

std::shared_ptr<Method> make_projector_method(const BackboneMaker& make_backbone,
                                              const MethodOptions& options, bool last_bias,
                                              ViewsLoss loss) {
  return std::make_shared<ProjectorMethod>(make_backbone, options, last_bias, std::move(loss));
}

}  // namespace cpl
