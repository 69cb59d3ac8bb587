#include "cplearn/ssl/barlow.h"

#include <torch/torch.h>

#include "cplearn/dist/gather.h"
#include "cplearn/nn/mlp.h"
#include "cplearn/ssl/methods.h"

namespace cpl {
namespace {

// Mean 0 and variance 1 in every column, as a batch normalisation without weights.
at::Tensor standardise(const at::Tensor& z) {
  return (z - z.mean(0)) / (z.var(0, /*unbiased=*/false) + 1e-5).sqrt();
}

class Barlow : public Method {
 public:
  Barlow(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone), options_(options.own<BarlowOptions>()) {
    const std::int64_t d = options.hidden_or(student().features());
    projector_ = register_module(
        "projector", make_mlp({student().features(), d, d, d}, MlpKind::kBatchNorm, false));
  }

  StepResult step(const Views& views, const Position&) override {
    const std::vector<at::Tensor> z = encode_views(views);
    std::vector<at::Tensor> h;
    for (const at::Tensor& view : z) h.push_back(projector_->forward(view));
    StepResult result = mean_over_pairs(views, [&](std::size_t i, std::size_t j) {
      return barlow_loss(h[i], h[j], options_, workers());
    });
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return projector_->forward(z); }

 private:
  BarlowOptions options_;
  torch::nn::Sequential projector_{nullptr};
};

}  // namespace

NamedLoss barlow_loss(const at::Tensor& z0, const at::Tensor& z1, const BarlowOptions& options,
                      WorkerGroup& workers) {
  const at::Tensor a = standardise(gather_rows(z0, workers));
  const at::Tensor b = standardise(gather_rows(z1, workers));
  const at::Tensor c = torch::matmul(a.t(), b) / static_cast<double>(a.size(0));  // d x d
  const at::Tensor diagonal = c.diagonal();
  const at::Tensor on = (diagonal - 1).pow(2).sum();
  const at::Tensor off = c.pow(2).sum() - diagonal.pow(2).sum();
  return {options.scale * (on + options.lambda * off),
          {{"on_diagonal", on.detach()}, {"off_diagonal", off.detach()}}};
}

const MethodRow kBarlow = {
    "barlow", "Barlow Twins: features correlate with themselves only (Zbontar et al., 2021)",
    "hidden = 512\n", make_as<Barlow>};

}  // namespace cpl
