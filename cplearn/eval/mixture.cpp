#include "cplearn/eval/mixture.h"

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/eval/column_means.h"
#include "cplearn/eval/kmeans.h"
#include "cplearn/nn/product.h"

namespace cpl {
namespace {

constexpr double kLog2Pi = 1.8378770664093453;
constexpr std::int64_t kMixtureChunk = 128;  // rows per matrix product

struct Share {
  std::int64_t component;
  double responsibility;
};

// The points, centred (in float, with their squares beside them) as the matrix product wants them.
struct Points {
  std::int64_t n, d;
  at::Tensor mean;  // d, double, of values that a float can hold
  at::Tensor wide;  // n x 2d float: x, x^2
  const float* row(std::int64_t i) const { return wide.data_ptr<float>() + i * 2 * d; }

  Points(const at::Tensor& points, const at::Tensor& centre)
      : n(points.size(0)), d(points.size(1)), mean(centre.to(at::kFloat).to(at::kDouble)) {
    wide = at::empty({n, 2 * d}, at::kFloat);
    at::Tensor x = wide.narrow(1, 0, d), squares = wide.narrow(1, d, d);
    at::sub_out(x, points.to(at::kCPU, at::kFloat), mean.to(at::kFloat));
    at::mul_out(squares, x, x);
    CPL_CHECK(column_means(wide).isfinite().all().item<bool>(),
              "a mixture needs finite points, but some are NaN, infinite or too large");
  }
};

// log w_k + log N(x | mu_k, v_k). All of them approximately by one matrix product in float; those
// that can matter again in double, because the product subtracts squares of nearly equal size.
class Densities {
 public:
  // Means in the coordinates of centred points.
  Densities(const std::vector<double>& weights, const std::vector<double>& means,
            const std::vector<double>& variances, std::int64_t d)
      : k_(static_cast<std::int64_t>(weights.size())),
        d_(d),
        means_(means),
        constant_(k_),
        square_(k_),
        inverse_(variances.size()) {
    factors_ = at::empty({2 * d, k_}, at::kFloat);
    float* factor = factors_.data_ptr<float>();
    for (std::int64_t k = 0; k < k_; ++k) {
      double logs = 0;
      for (std::int64_t c = 0; c < d; ++c) {
        const double variance = variances[k * d + c], mu = means[k * d + c];
        inverse_[k * d + c] = 1 / variance;
        logs += std::log(variance);
        square_[k] += mu * mu / variance;
        factor[c * k_ + k] = static_cast<float>(mu / variance);
        factor[(d + c) * k_ + k] = static_cast<float>(-0.5 / variance);
      }
      constant_[k] = std::log(weights[k]) - 0.5 * (static_cast<double>(d) * kLog2Pi + logs);
    }
  }

  // For each row: its log-density, and the components that share it, if wanted.
  void evaluate(const Points& points, std::vector<double>& log_density,
                std::vector<std::vector<Share>>* shares) const {
    const std::int64_t chunks = (points.n + kMixtureChunk - 1) / kMixtureChunk;
    at::parallel_for(0, chunks, 1, [&](std::int64_t first, std::int64_t last) {
      const at::NoGradGuard no_grad;
      std::vector<Share> row;
      for (std::int64_t chunk = first; chunk < last; ++chunk) {
        const std::int64_t begin = chunk * kMixtureChunk,
                           rows = std::min(kMixtureChunk, points.n - begin);
        const at::Tensor products = product(points.wide.narrow(0, begin, rows), factors_);
        for (std::int64_t r = 0; r < rows; ++r) {
          log_density[begin + r] =
              settle(points.row(begin + r), products.data_ptr<float>() + r * k_, row);
          if (shares != nullptr) (*shares)[begin + r] = row;
        }
      }
    });
  }

 private:
  double settle(const float* x, const float* product, std::vector<Share>& row) const {
    // Log-densities lie within `slack` of the approximate ones. Components 25 nats under the best
    // have a share under 1.4e-11.
    constexpr double kNegligible = 25, kFloatError = 1e-6;
    const auto approximate = [&](std::int64_t k) {
      return constant_[k] - 0.5 * square_[k] + product[k];
    };
    const auto slack = [&](std::int64_t k) {
      return kFloatError * (square_[k] + std::abs(static_cast<double>(product[k])) + 1);
    };
    double least = -INFINITY;
    for (std::int64_t k = 0; k < k_; ++k) least = std::max(least, approximate(k) - slack(k));
    row.clear();
    double best = -INFINITY;
    for (std::int64_t k = 0; k < k_; ++k) {
      if (approximate(k) + slack(k) < least - kNegligible) continue;
      row.push_back({k, constant_[k] - 0.5 * distance(x, k)});
      best = std::max(best, row.back().responsibility);
    }
    double sum = 0;
    for (Share& share : row) sum += share.responsibility = std::exp(share.responsibility - best);
    for (Share& share : row) share.responsibility /= sum;
    return best + std::log(sum);
  }

  // Squared, in units of the variances. Eight sums side by side, so that additions need not wait
  // for each other.
  double distance(const float* x, std::int64_t k) const {
    const double* mean = means_.data() + k * d_;
    const double* inverse = inverse_.data() + k * d_;
    double sums[8] = {};
    std::int64_t c = 0;
    for (; c + 8 <= d_; c += 8) {
      for (std::int64_t lane = 0; lane < 8; ++lane) {
        const double difference = x[c + lane] - mean[c + lane];
        sums[lane] += difference * difference * inverse[c + lane];
      }
    }
    for (; c < d_; ++c) sums[0] += (x[c] - mean[c]) * (x[c] - mean[c]) * inverse[c];
    return std::accumulate(sums, sums + 8, 0.0);
  }

  std::int64_t k_, d_;
  const std::vector<double>& means_;
  std::vector<double> constant_, square_, inverse_;
  at::Tensor factors_;  // 2d x k
};

// The maximisation step. High-dimensional points share few components, so sums over the shares beat
// a matrix product. Columns in parallel: the order of additions is fixed.
void maximise(const Points& points, const std::vector<std::vector<Share>>& shares, double floor,
              Mixture& mixture) {
  const std::int64_t d = points.d;
  // As scikit-learn: a component without points keeps finite means.
  std::vector<double> mass(mixture.components, 10 * std::numeric_limits<double>::epsilon());
  for (const auto& row : shares)
    for (const Share& share : row) mass[share.component] += share.responsibility;
  std::fill(mixture.means.begin(), mixture.means.end(), 0.0);
  std::fill(mixture.variances.begin(), mixture.variances.end(), 0.0);
  at::parallel_for(0, d, 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < points.n; ++i) {
      const float* x = points.row(i);
      for (const Share& share : shares[i]) {
        double* sum = mixture.means.data() + share.component * d;
        double* squares = mixture.variances.data() + share.component * d;
        for (std::int64_t c = first; c < last; ++c) {
          const double weighted = share.responsibility * x[c];
          sum[c] += weighted;
          squares[c] += weighted * x[c];
        }
      }
    }
  });
  for (std::int64_t k = 0; k < mixture.components; ++k) {
    mixture.weights[k] = mass[k] / static_cast<double>(points.n);
    for (std::int64_t c = k * d; c < (k + 1) * d; ++c) {
      const double mean = mixture.means[c] / mass[k];
      mixture.means[c] = mean;
      mixture.variances[c] = std::max(mixture.variances[c] / mass[k] - mean * mean, 0.0) + floor;
    }
  }
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Means from centred to given coordinates (sign +1) or back (-1).
void shift_means(std::vector<double>& means, const at::Tensor& by, double sign) {
  const double* shift = by.data_ptr<double>();
  for (std::size_t i = 0; i < means.size(); ++i) means[i] += sign * shift[i % by.numel()];
}

}  // namespace

Mixture fit_mixture(const at::Tensor& points, const MixtureOptions& options) {
  CPL_CHECK(points.dim() == 2 && options.components >= 1 && options.components <= points.size(0),
            "a mixture of ", options.components, " components needs at least as many points as ",
            "n x d, got ", points.sizes(), "; ask for fewer components");
  const at::NoGradGuard no_grad;
  const Points data(points, column_means(points.to(at::kCPU, at::kFloat)));
  KMeansOptions start;
  start.clusters = options.components;
  start.restarts = 1;
  start.seed = options.seed;
  const Labels labels = kmeans(data.wide.narrow(1, 0, data.d), start).labels;
  std::vector<std::vector<Share>> shares(data.n);
  for (std::int64_t i = 0; i < data.n; ++i) shares[i] = {{labels[i], 1.0}};

  Mixture mixture;
  mixture.components = options.components;
  mixture.width = data.d;
  mixture.weights.resize(options.components);
  mixture.means.resize(options.components * data.d);
  mixture.variances.resize(options.components * data.d);
  maximise(data, shares, options.floor, mixture);
  std::vector<double> log_p(data.n);
  double before = -INFINITY;
  while (!mixture.converged && mixture.iterations < options.max_iterations) {
    ++mixture.iterations;
    Densities(mixture.weights, mixture.means, mixture.variances, data.d)
        .evaluate(data, log_p, &shares);
    mixture.log_likelihood = mean_of(log_p);
    mixture.converged = std::abs(mixture.log_likelihood - before) < options.tolerance;
    before = mixture.log_likelihood;
    maximise(data, shares, options.floor, mixture);
  }
  Densities(mixture.weights, mixture.means, mixture.variances, data.d)
      .evaluate(data, log_p, nullptr);
  mixture.log_likelihood = mean_of(log_p);
  shift_means(mixture.means, data.mean, 1);
  return mixture;
}

std::vector<double> log_density(const Mixture& mixture, const at::Tensor& points) {
  CPL_CHECK(points.dim() == 2 && points.size(1) == mixture.width, "the mixture is over ",
            mixture.width, " dimensions, got points ", points.sizes());
  const at::NoGradGuard no_grad;
  // Centred at the mixture's mean, for precision.
  at::Tensor centre = at::zeros({mixture.width}, at::kDouble);
  for (std::size_t i = 0; i < mixture.means.size(); ++i)
    centre.data_ptr<double>()[i % mixture.width] +=
        mixture.weights[i / mixture.width] * mixture.means[i];
  const Points data(points, centre);
  std::vector<double> means = mixture.means;
  shift_means(means, data.mean, -1);
  std::vector<double> log_p(data.n);
  Densities(mixture.weights, means, mixture.variances, data.d).evaluate(data, log_p, nullptr);
  return log_p;
}

at::Tensor sample_mixture(const Mixture& mixture, std::int64_t samples, std::uint64_t seed) {
  std::vector<double> cumulative;
  double sum = 0;
  for (const double weight : mixture.weights) cumulative.push_back(sum += weight);
  at::Tensor out = at::empty({samples, mixture.width}, at::kFloat);
  at::parallel_for(0, samples, 64, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      Random random(seed, Stream::kEval, static_cast<std::uint64_t>(i), 1);
      const double uniform = static_cast<double>(random.bits64() >> 11) * 0x1p-53 * sum;
      const std::int64_t k = std::min<std::int64_t>(
          std::upper_bound(cumulative.begin(), cumulative.end(), uniform) - cumulative.begin(),
          mixture.components - 1);
      for (std::int64_t c = 0; c < mixture.width; ++c) {
        const std::int64_t at = k * mixture.width + c;
        out.data_ptr<float>()[i * mixture.width + c] = static_cast<float>(
            mixture.means[at] + std::sqrt(mixture.variances[at]) * random.normal());
      }
    }
  });
  return out;
}

Entropy mixture_entropy(const Mixture& mixture, std::int64_t samples, std::uint64_t seed) {
  CPL_CHECK(samples >= 2, "the entropy needs at least 2 samples, got ", samples);
  const std::vector<double> log_p = log_density(mixture, sample_mixture(mixture, samples, seed));
  const double mean = mean_of(log_p), n = static_cast<double>(samples);
  double squares = 0;
  for (const double value : log_p) squares += (value - mean) * (value - mean);
  return {-mean, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace cpl
