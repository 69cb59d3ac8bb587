#include "cplearn/eval/free_points.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/spectrum.h"
#include "cplearn/nn/code_loss.h"
#include "cplearn/nn/embedding.h"

namespace cpl {
namespace {

using torch::Tensor;

constexpr double kRate = 0.1, kMomentum = 0.9;
constexpr double kNearly = 0.05;  // how far starts are from the state they are named after

// Rows of length about 1. n x d.
Tensor starting_points(const FreePointsOptions& o, const Dictionary& dictionary) {
  const double unit = 1 / std::sqrt(static_cast<double>(o.width));
  const Tensor random = torch::randn({o.points, o.width}) * unit;
  switch (o.start) {
    case Start::kRandom:
      return random;
    case Start::kAlike:
      return torch::randn({1, o.width}) * unit + kNearly * random;
    case Start::kOneCode: {
      const Tensor codes = torch::tensor(dictionary.dense()).view({o.width, o.codes});
      return codes.select(1, 0).unsqueeze(0) * unit + kNearly * random;
    }
    case Start::kLine:
      return torch::randn({o.points, 1}) * torch::randn({1, o.width}) * unit + kNearly * random;
    case Start::kShort:
      return kNearly * random;
  }
  throw Error("optimise_points: no such start");
}

// Points of length 1 become embeddings; tanh gets entries of variance 1, as a batch norm gives it.
Tensor embed(const Tensor& x, Activation activation, const Tensor& blind) {
  const bool cube = activation == Activation::kTanh;
  return activate(cube ? x * std::sqrt(static_cast<double>(x.size(1))) : x, activation, blind);
}

// A part of another point mixed in, so that noise has the shape of the points and its share stays
// as told whatever they do.
Tensor view_of(const Tensor& points, double correlation) {
  if (correlation == 1) return points;
  const Tensor mean = points.mean(0);
  const Tensor other = points.index_select(0, torch::randperm(points.size(0)));
  return mean + std::sqrt(correlation) * (points - mean) +
         std::sqrt(1 - correlation) * (other - mean);
}

double exp_entropy(const Tensor& counts) {
  const Tensor p = counts.to(torch::kDouble) / counts.sum();
  return std::exp(-torch::xlogy(p, p).sum().item<double>());
}

}  // namespace

FreePointsState optimise_points(const FreePointsOptions& o,
                                const std::function<void(std::int64_t)>& progress) {
  CPL_CHECK(o.correlation > 0 && o.correlation <= 1,
            "optimise_points: correlation must be above 0 and at most 1, got ", o.correlation);
  torch::manual_seed(o.seed);
  const Dictionary dictionary(o.dictionary, o.width, o.codes, o.seed);
  const Tensor blind = blind_direction(dictionary);
  CodeLossOptions loss_options{};
  loss_options.scale = logit_scale(o.activation, o.scale, o.width, o.codes, o.points,
                                   resolve_deviation(o.deviation, o.prior, o.codes));
  loss_options.beta = o.beta;
  loss_options.symmetric = true;
  loss_options.prior = o.prior;
  WorkerGroup alone;

  Tensor points = starting_points(o, dictionary).requires_grad_();
  // Not Adam, which would make a random walk of the noise: the gradient's size is what tells it
  // from the signal. It is of the order of deviation^2 / points.
  const double longest =
      o.activation == Activation::kTanh ? std::sqrt(static_cast<double>(o.width)) : 1;
  const double deviation = loss_options.scale * longest;
  torch::optim::SGD descent(
      {points},
      torch::optim::SGDOptions(kRate * static_cast<double>(o.points) / (deviation * deviation))
          .momentum(kMomentum));
  for (std::int64_t step = 0; step < o.steps; ++step) {
    descent.zero_grad();
    const Tensor h0 = embed(view_of(points, o.correlation), o.activation, blind);
    const Tensor h1 = embed(view_of(points, o.correlation), o.activation, blind);
    code_loss_fused(h0, h1, dictionary, loss_options, alone).total.backward();
    descent.step();
    if (progress) progress(step + 1);
  }

  const torch::NoGradGuard no_grad;
  const Tensor h = embed(points, o.activation, blind);
  const CodeLoss loss = code_loss_fused(h, h, dictionary, loss_options, alone);
  const CodeAssignment nearest = assign_codes(h, dictionary, loss_options.scale);
  const Tensor centred = h - h.mean(0);
  const double size = h.norm().item<double>();
  const double rows = std::sqrt(static_cast<double>(o.points));
  FreePointsState state{};
  state.loss = loss.total.item<double>();
  state.loss_if_uniform = o.beta * std::log(static_cast<double>(o.codes));
  state.codes_used = exp_entropy(torch::bincount(nearest.code, {}, o.codes));
  state.rank = effective_rank(covariance_spectrum(h, true));
  state.deviation = size > 0 ? centred.norm().item<double>() / size : 0;
  state.length = size / rows / longest;
  state.confidence = nearest.probability.mean().item<double>();
  return state;
}

const char* regime(const FreePointsState& state, const FreePointsOptions& o) {
  const auto most = static_cast<double>(std::min(o.points, o.codes));
  const auto dimensions = static_cast<double>(std::min(o.points - 1, o.width));
  if (state.length < 0.1) return "short";
  if (state.deviation < 0.1) return "constant";
  if (state.codes_used < std::sqrt(most)) return "few codes";
  if (state.rank < std::sqrt(dimensions)) return "low rank";
  return state.confidence > 0.9 ? "on codes" : "spread";
}

}  // namespace cpl
