#pragma once
// What a self-supervised method is: a loss on views of images, and whatever its paper needs for it.
// Optimiser, schedule, data, checkpoints and logs belong to the trainer.
//
// A method is a torch module that holds its backbone. All its state (projector, teacher, queue,
// centre, prototypes) is registered as parameters and buffers, so that no checkpoint can forget
// any.

#include <torch/nn/module.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/dist/worker_group.h"
#include "cplearn/nn/backbone/backbone.h"
#include "cplearn/nn/code_loss.h"
#include "cplearn/ssl/encode.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

// The views of one size: views * n images, all n of the first view, then all of the second, ...
struct Crops {
  at::Tensor images;  // (views * n) x 3 x size x size, channels last
  std::int64_t views;
};

struct Views {
  std::vector<Crops> sizes;  // full size first
  std::int64_t globals;      // how many of the first views show most of the picture

  std::size_t count() const;
  // Each full view with every view behind it: what methods compare.
  std::vector<std::pair<std::size_t, std::size_t>> pairs() const;
};

// Where the training stands; methods with schedules of their own are functions of it.
struct Position {
  std::int64_t step = 0;  // counted from 0
  std::int64_t steps = 1;
  std::int64_t epoch = 0;
  std::int64_t epochs = 1;

  double progress() const { return static_cast<double>(step) / static_cast<double>(steps); }

  // How much of the first `wanted` epochs is over, from 0 to 1. These are never more than a quarter
  // of the training: a short one must get past its opening.
  double opening(double wanted) const {
    const double length = std::min(wanted / static_cast<double>(epochs), 0.25);
    return length > 0 ? std::min(progress() / length, 1.0) : 1.0;
  }
};

// What a loss function returns: the total is differentiable, the terms are detached values.
struct NamedLoss {
  at::Tensor total;
  std::vector<std::pair<std::string, at::Tensor>> terms;
};

struct StepResult {
  StepResult() = default;
  StepResult(const NamedLoss& loss);  // its total and terms

  at::Tensor total;  // the loss, differentiable
  // Named values to show and log, in this order. Those of the loss are not weighted.
  std::vector<std::pair<std::string, double>> terms;

  // For the monitor and the probe: detached, of the first view.
  at::Tensor representations;  // n x features
  at::Tensor embeddings;       // n x d
  // Undefined for methods without codes.
  at::Tensor usage;          // c: mean probability of each code over the batch
  double entropy = 0;        // mean entropy of an image's distribution over codes, in nats
  double cross_entropy = 0;  // mean cross-entropy between the distributions of two views
};

// Total and terms: the mean of compare(i, j) over the pairs of views.
StepResult mean_over_pairs(const Views& views,
                           const std::function<NamedLoss(std::size_t i, std::size_t j)>& compare);

class Method : public torch::nn::Module {
 public:
  virtual StepResult step(const Views& views, const Position& position) = 0;

  // After the optimiser has moved the parameters: a teacher follows, prototypes are normalised.
  virtual void after_update(const Position& /*position*/) {}

  // From representations z (n x features): what the loss compares, and the code of each image.
  virtual at::Tensor embed(const at::Tensor& z) = 0;
  virtual CodeAssignment assign(const at::Tensor& z);  // the most probable one
  virtual std::int64_t codes() const { return 0; }     // 0: the method has none; assign() throws

  // To look at, a few rows at a time. log of the probabilities of all codes, n x codes; undefined
  // for methods without codes.
  virtual at::Tensor log_probabilities(const at::Tensor& /*z*/) { return {}; }
  // What the layers between z and the embedding make of it, by name: those worth watching.
  virtual std::vector<std::pair<std::string, at::Tensor>> layers(const at::Tensor& /*z*/) {
    return {};
  }

  // What a method computes over the batch it computes over these; they must outlive it.
  virtual void set_workers(WorkerGroup& workers) { workers_ = &workers; }

  void set_encoding(const EncodeOptions& options) { encoding_ = options; }
  // The encoder that comes out: representations are its. With a teacher it is the teacher's.
  virtual Backbone& backbone() { return *backbone_; }
  // The one that the loss trains.
  Backbone& student() { return *backbone_; }
  double encode_seconds() const { return encode_seconds_; }  // spent in forward passes so far

 protected:
  explicit Method(const BackboneMaker& make_backbone);

  // Each view's representations, n x features, in the order of the views: one pass per size.
  // Throws cpl::Error if there is only one view.
  std::vector<at::Tensor> encode_views(const Views& views);
  // n x features, in the precision of the training.
  at::Tensor encode_images(Backbone& backbone, const at::Tensor& images);

  WorkerGroup& workers() { return *workers_; }
  const EncodeOptions& encoding() const { return encoding_; }

 private:
  std::shared_ptr<Backbone> backbone_;
  EncodeOptions encoding_;
  WorkerGroup alone_;
  WorkerGroup* workers_ = &alone_;
  double encode_seconds_ = 0;
};

// By name. Weights are drawn from torch's default generator. Throws cpl::Error, listing the names.
std::shared_ptr<Method> make_method(const std::string& name, const BackboneMaker& make_backbone,
                                    const MethodOptions& options);

}  // namespace cpl
