#include "cplearn/ssl/gedi.h"

#include <torch/torch.h>

#include "cplearn/base/error.h"
#include "cplearn/dist/gather.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/probabilities.h"

namespace cpl {
namespace {

class GediNogen : public Method {
 public:
  GediNogen(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone),
        loss_{1 / options.own<GediNogenOptions>().temperature,
              options.head.beta,
              options.head.symmetric,
              resolve_prior(options.head.prior, options.head.batch),
              {}} {
    const std::int64_t features = student().features(), hidden = options.hidden_or(features);
    CPL_CHECK(options.head.codes >= 2, "gedi needs at least 2 --codes, got ", options.head.codes);
    projector_ = register_module(
        "projector", torch::nn::Sequential(
                         torch::nn::Linear(torch::nn::LinearOptions(features, hidden).bias(false)),
                         torch::nn::BatchNorm1d(hidden), torch::nn::ReLU()));
    classes_ = register_module(
        "classes",
        torch::nn::Linear(torch::nn::LinearOptions(hidden, options.head.codes).bias(false)));
  }

  StepResult step(const Views& views, const Position&) override {
    const std::vector<at::Tensor> z = encode_views(views);
    std::vector<at::Tensor> h, all;
    for (const at::Tensor& view : z) {
      h.push_back(embed(view));
      all.push_back(gather_rows(h.back(), workers()));
    }
    StepResult result = mean_over_pairs(views, [&](std::size_t i, std::size_t j) {
      const CodeLoss loss = code_loss_plain(all[i], all[j], classes_->weight.t(), loss_);
      return NamedLoss{loss.total, {{"invariance", loss.invariance}, {"prior", loss.prior}}};
    });
    describe_codes(logits(h[0]).log_softmax(1), logits(h[1]).log_softmax(1), result);
    result.representations = z[0].detach();
    result.embeddings = h[0].detach();
    return result;
  }

  at::Tensor embed(const at::Tensor& z) override { return projector_->forward(z); }
  at::Tensor log_probabilities(const at::Tensor& z) override {
    return logits(embed(z)).log_softmax(1);
  }
  std::int64_t codes() const override { return classes_->options.out_features(); }

 protected:
  at::Tensor logits(const at::Tensor& h) { return loss_.scale * classes_->forward(h); }

 private:
  CodeLossOptions loss_;
  torch::nn::Sequential projector_{nullptr};
  torch::nn::Linear classes_{nullptr};
};

class Gedi : public GediNogen {
 public:
  Gedi(const BackboneMaker& make_backbone, const MethodOptions& options)
      : GediNogen(make_backbone, options), options_(options.own<GediOptions>()) {
    const std::int64_t side = options.image_size;
    samples_ =
        register_buffer("samples", torch::rand({options_.buffer, 3, side, side}).mul_(2).sub_(1));
  }

  StepResult step(const Views& views, const Position& position) override {
    StepResult result = GediNogen::step(views, position);
    const Crops& full = views.sizes.front();
    const at::Tensor view = full.images.narrow(0, 0, full.images.size(0) / full.views);
    const at::Tensor images = view + options_.noise * torch::randn_like(view);
    // The energy must be a function of one image: no batch statistics.
    const bool was_training = is_training();
    train(false);
    const at::Tensor samples = sample(images.size(0));
    const auto energies = energy(torch::cat({images, samples}), encoding().parts).chunk(2);
    train(was_training);
    const at::Tensor generative = energies[0].mean() - energies[1].mean();
    result.total = result.total + options_.weight * generative;
    result.terms.emplace_back("generative", generative.item<double>());
    return result;
  }

 private:
  // n. -log sum_j exp(logit_j) is the energy whose density the softmax is part of.
  at::Tensor energy(const at::Tensor& images, std::int64_t parts) {
    const at::Tensor z = encode(student(), images, {parts, encoding().bf16});
    return -logits(embed(z)).logsumexp(1);
  }

  // The samples of this worker for this step. All workers draw the same places and keep the same
  // buffer, so that any can save it.
  at::Tensor sample(std::int64_t rows) {
    const std::int64_t total = rows * workers().size();
    CPL_CHECK(total <= options_.buffer, "gedi keeps ", options_.buffer, " samples and a batch has ",
              total, ": use --gedi-buffer ", total, " or more");
    const at::Device device = samples_.device();
    const at::Tensor places =
        torch::randperm(options_.buffer, at::kLong).narrow(0, 0, total).to(device);
    const at::Tensor again = torch::rand({total, 1, 1, 1}).lt(options_.restart).to(device);
    const at::Tensor kept = samples_.index_select(0, places);
    const at::Tensor start = own_rows(
        torch::where(again, torch::rand_like(kept).mul_(2).sub_(1), kept), rows, workers());
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : start.chunk(encoding().parts)) {
      parts.push_back(
          langevin([this](const at::Tensor& x) { return energy(x, 1); }, part, options_.langevin));
    }
    const at::Tensor result = torch::cat(parts);
    samples_.index_copy_(0, places, gather_rows(result, workers()));
    return result;
  }

  GediOptions options_;
  at::Tensor samples_;  // buffer x 3 x side x side
};

}  // namespace

at::Tensor langevin(const std::function<at::Tensor(const at::Tensor&)>& energy, const at::Tensor& x,
                    const LangevinOptions& options) {
  at::AutoGradMode with_graph(true);
  at::Tensor current = x.detach();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    current.requires_grad_();
    const at::Tensor slope = torch::autograd::grad({energy(current).sum()}, {current})[0];
    current = (current - options.step_size * slope).detach();
    current += options.noise * torch::randn_like(current);
  }
  return current.detach();
}

std::shared_ptr<Method> make_method(const GediNogenOptions& /*own*/,
                                    const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<GediNogen>(make_backbone, options);
}

std::shared_ptr<Method> make_method(const GediOptions& /*own*/, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<Gedi>(make_backbone, options);
}

}  // namespace cpl
