#pragma once
// What a self-supervised method is: a loss on views of images, and whatever its paper needs for it.
// Optimiser, schedule, data, checkpoints and logs belong to the trainer.
//
// A method is a torch module that holds its backbone. All its state (projector, teacher, queue,
// centre, prototypes) is registered as parameters and buffers, so that no checkpoint can forget
// any.

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cplearn/dist/worker_group.h"
#include "cplearn/nn/backbone/backbone.h"
#include "cplearn/nn/code_loss.h"
#include "cplearn/ssl/encode.h"

namespace cpl {

// The views of one size: views * n images, all n of the first view, then all of the second, ...
struct Crops {
  at::Tensor images;  // (views * n) x 3 x size x size, channels last
  std::int64_t views;
};

struct Views {
  std::vector<Crops> sizes;  // full size first
  std::int64_t globals;      // how many of the first views show most of the picture
};

// Where the training stands; methods with schedules of their own are functions of it.
struct Position {
  std::int64_t step = 0;  // counted from 0
  std::int64_t steps = 1;
  std::int64_t epoch = 0;
  std::int64_t epochs = 1;

  double progress() const { return static_cast<double>(step) / static_cast<double>(steps); }
};

struct StepResult {
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

class Method : public torch::nn::Module {
 public:
  virtual StepResult step(const Views& views, const Position& position) = 0;

  // After the optimiser has moved the parameters: a teacher follows, prototypes are normalised.
  virtual void after_update(const Position& /*position*/) {}

  // From representations z (n x features): what the loss compares, and the code of each image.
  virtual at::Tensor embed(const at::Tensor& z) = 0;
  virtual CodeAssignment assign(const at::Tensor& z) = 0;
  virtual std::int64_t codes() const = 0;

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
  Backbone& backbone() { return *backbone_; }
  std::shared_ptr<Backbone> shared_backbone() const { return backbone_; }
  double encode_seconds() const { return encode_seconds_; }  // spent in forward passes so far

 protected:
  explicit Method(std::shared_ptr<Backbone> backbone);

  // Each view's representations, n x features, in the order of the views: one pass per size.
  std::vector<at::Tensor> encode_views(const Views& views);

  WorkerGroup& workers() { return *workers_; }

 private:
  std::shared_ptr<Backbone> backbone_;
  EncodeOptions encoding_;
  WorkerGroup alone_;
  WorkerGroup* workers_ = &alone_;
  double encode_seconds_ = 0;
};

}  // namespace cpl
