#include "cplearn/ssl/dino.h"

#include <torch/torch.h>

#include "cplearn/nn/mlp.h"
#include "cplearn/nn/optim/schedule.h"
#include "cplearn/nn/state.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/probabilities.h"

namespace cpl {
namespace {

// A backbone and a head that follow a student and have no gradient.
class Teacher : public torch::nn::Module {
 public:
  Teacher(std::shared_ptr<Backbone> own_backbone, PrototypeHead own_head)
      : backbone(register_module("backbone", std::move(own_backbone))),
        head(register_module("head", std::move(own_head))) {
    for (at::Tensor& p : parameters()) p.requires_grad_(false);
  }

  // Batch normalisation uses the batch as the student's does; nothing is dropped at random.
  void train(bool on) override {
    for (const auto& module : modules(/*include_self=*/false)) module->train(false);
    for (const auto& module : modules(/*include_self=*/false)) {
      if (module->as<torch::nn::BatchNorm1dImpl>() || module->as<torch::nn::BatchNorm2dImpl>())
        module->train(on);
    }
  }

  std::shared_ptr<Backbone> backbone;
  PrototypeHead head;
};

class Dino : public Method {
 public:
  Dino(const BackboneMaker& make_backbone, const MethodOptions& options)
      : Method(make_backbone), options_(options.own<DinoOptions>()) {
    const std::int64_t features = student().features();
    const PrototypeHeadOptions head{options.hidden_or(features), 2, options_.width,
                                    options.head.codes, MlpKind::kGelu};
    head_ = register_module("head", PrototypeHead(features, head));
    teacher_ = register_module(
        "teacher", std::make_shared<Teacher>(make_backbone(), PrototypeHead(features, head)));
    copy_tensors(module_state(student()), module_state(*teacher_->backbone));
    copy_tensors(module_state(*head_), module_state(*teacher_->head));
    centre_ = register_buffer("centre", torch::zeros({options.head.codes}));
  }

  StepResult step(const Views& views, const Position& position) override {
    StepResult result;
    const std::vector<at::Tensor> targets = teach(views, position, result);
    const bool frozen = position.opening(options_.freeze) < 1;
    std::vector<at::Tensor> scores;
    for (const at::Tensor& view : encode_views(views))
      scores.push_back(head_->scores(head_->embed(view), frozen));
    result.total = prediction_loss(targets, scores, options_.student_temperature);
    result.terms = {{"prediction", result.total.item<double>()}};
    describe_codes(log_softmax(scores[0]), log_softmax(scores[1]), result);
    return result;
  }

  void after_update(const Position& position) override {
    const at::NoGradGuard no_grad;
    const double momentum = cosine_between(options_.momentum, 1, position.progress());
    follow(student(), *teacher_->backbone, 1 - momentum);
    follow(*head_, *teacher_->head, 1 - momentum);
  }

  Backbone& backbone() override { return *teacher_->backbone; }
  at::Tensor embed(const at::Tensor& z) override { return teacher_->head->embed(z); }
  at::Tensor log_probabilities(const at::Tensor& z) override {
    return log_softmax(teacher_->head->scores(embed(z)));
  }
  std::int64_t codes() const override { return head_->codes(); }

 private:
  at::Tensor log_softmax(const at::Tensor& scores) const {
    return (scores / options_.student_temperature).log_softmax(1);
  }

  static void follow(const torch::nn::Module& leader, torch::nn::Module& follower, double weight) {
    const std::vector<at::Tensor> from = leader.parameters();
    std::size_t i = 0;
    for (at::Tensor& p : follower.parameters()) p.lerp_(from[i++], weight);
  }

  // The targets of the full views; moves the centre.
  std::vector<at::Tensor> teach(const Views& views, const Position& position, StepResult& result) {
    const at::NoGradGuard no_grad;
    const Crops& full = views.sizes.front();
    const std::int64_t n = full.images.size(0) / full.views;
    const std::int64_t globals = std::min(views.globals, full.views);
    const at::Tensor z = encode_images(*teacher_->backbone, full.images.narrow(0, 0, globals * n));
    const at::Tensor h = teacher_->head->embed(z);
    const at::Tensor scores = teacher_->head->scores(h);
    const double temperature =
        options_.first_temperature + (options_.teacher_temperature - options_.first_temperature) *
                                         position.opening(options_.warmup);
    const at::Tensor targets = dino_targets(scores, centre_, temperature);
    centre_.copy_(dino_centre(centre_, scores, options_.centre_momentum, workers()));
    result.representations = z.narrow(0, 0, n);
    result.embeddings = h.narrow(0, 0, n);
    return targets.chunk(globals);
  }

  DinoOptions options_;
  PrototypeHead head_{nullptr};
  std::shared_ptr<Teacher> teacher_;
  at::Tensor centre_;  // c
};

}  // namespace

at::Tensor dino_targets(const at::Tensor& scores, const at::Tensor& centre, double temperature) {
  return ((scores - centre) / temperature).softmax(1);
}

at::Tensor dino_centre(const at::Tensor& centre, const at::Tensor& scores, double momentum,
                       WorkerGroup& workers) {
  at::Tensor mean = scores.mean(0);
  workers.sum(mean);
  return momentum * centre + (1 - momentum) / workers.size() * mean;
}

std::shared_ptr<Method> make_method(const DinoOptions& /*own*/, const BackboneMaker& make_backbone,
                                    const MethodOptions& options) {
  return std::make_shared<Dino>(make_backbone, options);
}

}  // namespace cpl
