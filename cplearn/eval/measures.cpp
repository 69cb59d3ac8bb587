#include "cplearn/eval/measures.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/base/random.h"
#include "cplearn/eval/row_sample.h"

namespace cpl {
namespace {

at::Tensor exact_rows(const at::Tensor& x, std::int64_t least) {
  CPL_CHECK(x.dim() == 2 && x.size(0) >= least && x.size(1) >= 1, "needs at least ", least,
            " embeddings as n x d, got ", x.sizes());
  return x.to(at::kCPU, at::kDouble);
}

at::Tensor directions_of(const at::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-30); }

// Length of the minimum spanning tree of the points in `chosen` (Prim, 1957). `squares`: all
// squared distances, row-major, `n` points.
double tree_length(const double* squares, std::int64_t n, const std::vector<std::int64_t>& chosen) {
  const std::size_t m = chosen.size();
  std::vector<double> nearest(m, std::numeric_limits<double>::infinity());
  std::vector<char> inside(m, 0);
  double length = 0;
  std::size_t last = 0;
  for (std::size_t joined = 1; joined < m; ++joined) {
    inside[last] = 1;
    const double* row = squares + chosen[last] * n;
    std::size_t next = m;
    for (std::size_t i = 0; i < m; ++i) {
      if (inside[i]) continue;
      nearest[i] = std::min(nearest[i], row[chosen[i]]);
      if (next == m || nearest[i] < nearest[next]) next = i;
    }
    length += std::sqrt(std::max(nearest[next], 0.0));
    last = next;
  }
  return length;
}

}  // namespace

double lidar(const at::Tensor& views) {
  CPL_CHECK(views.dim() == 3 && views.size(0) >= 2 && views.size(1) >= 2,
            "LiDAR needs at least 2 views of at least 2 images as n x q x d, got ", views.sizes());
  constexpr double kRidge = 1e-4, kLeast = 1e-8;
  const at::NoGradGuard no_grad;
  const at::Tensor x = views.to(at::kCPU, at::kDouble);
  const std::int64_t n = x.size(0), q = x.size(1), d = x.size(2);
  const at::Tensor means = x.mean(1);
  const at::Tensor between = means - means.mean(0);
  const at::Tensor within = (x - means.unsqueeze(1)).reshape({n * q, d});
  const at::Tensor sw = at::matmul(within.t(), within) / static_cast<double>(n * q) +
                        kRidge * at::eye(d, x.options());
  const auto [values, vectors] = at::linalg_eigh(sw);
  const at::Tensor whitened = at::matmul(between, vectors) / values.sqrt();
  const at::Tensor moment = at::matmul(whitened.t(), whitened) / static_cast<double>(n - 1);
  at::Tensor p = at::linalg_eigvalsh(moment).clamp_min(0);
  p = p / p.sum().clamp_min(1e-300) + kLeast;
  return std::exp(-(p * p.log()).sum().item<double>());
}

double intrinsic_dimension(const at::Tensor& x, std::uint64_t seed) {
  constexpr std::int64_t kMost = 2048, kParts = 16;
  const at::NoGradGuard no_grad;
  at::Tensor rows = exact_rows(x, 2 * kParts);
  if (rows.size(0) > kMost) {
    const auto stride = (rows.size(0) + kMost - 1) / kMost;
    rows = rows.index_select(0, torch::tensor(sample_rows(rows.size(0), stride, seed), at::kLong));
  }
  rows = rows - rows.mean(0);
  const std::int64_t n = rows.size(0);
  const at::Tensor lengths = rows.square().sum(1);
  const at::Tensor squares =
      (lengths.unsqueeze(0) + lengths.unsqueeze(1) - 2 * at::matmul(rows, rows.t())).contiguous();
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  constexpr std::uint32_t kOwnNumbers = 3;  // apart from others of this stream
  Random random(seed, Stream::kEval, 0, kOwnNumbers);
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  std::vector<std::pair<double, double>> line;
  for (std::int64_t part = 1; part <= kParts; ++part) {
    const std::vector<std::int64_t> chosen(order.begin(), order.begin() + part * n / kParts);
    const double length = tree_length(squares.data_ptr<double>(), n, chosen);
    if (!(length > 0)) return 0;  // a single point
    line.emplace_back(std::log(static_cast<double>(chosen.size())), std::log(length));
    mean_x += line.back().first / kParts;
    mean_y += line.back().second / kParts;
  }
  for (const auto& [at_x, at_y] : line) {
    xx += (at_x - mean_x) * (at_x - mean_x);
    xy += (at_x - mean_x) * (at_y - mean_y);
  }
  const double slope = xy / xx;
  return slope < 1 ? 1 / (1 - slope) : std::numeric_limits<double>::infinity();
}

double self_cluster(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const at::Tensor unit = directions_of(exact_rows(x, 2));
  const auto n = static_cast<double>(unit.size(0)), d = static_cast<double>(unit.size(1));
  const bool wide = unit.size(1) > unit.size(0);  // XX' and X'X have the same norm
  const at::Tensor gram = wide ? at::matmul(unit, unit.t()) : at::matmul(unit.t(), unit);
  const double expected = n + n * (n - 1) / d;
  const double most = n * n - expected;
  return most > 0 ? (gram.square().sum().item<double>() - expected) / most : 0;
}

double own_view_found(const at::Tensor& a, const at::Tensor& b) {
  CPL_CHECK(a.sizes() == b.sizes(), "needs two views of the same images, got ", a.sizes(), " and ",
            b.sizes());
  const at::NoGradGuard no_grad;
  const at::Tensor first = exact_rows(a, 2), second = exact_rows(b, 2);
  const at::Tensor mean = (first.mean(0) + second.mean(0)) / 2;
  const at::Tensor cosines =
      at::matmul(directions_of(first - mean), directions_of(second - mean).t());
  const at::Tensor own = at::arange(a.size(0), at::kLong);
  return cosines.argmax(1).eq(own).to(at::kDouble).mean().item<double>();
}

double within_share(const at::Tensor& embeddings, const Labels& groups) {
  CPL_CHECK(embeddings.dim() == 2 && embeddings.size(0) == static_cast<std::int64_t>(groups.size()),
            "needs one group per embedding, got ", groups.size(), " for ", embeddings.sizes());
  const at::NoGradGuard no_grad;
  Labels known;
  const at::Tensor index = torch::tensor(compact_labels(groups, &known));
  const at::Tensor sizes = torch::bincount(index).to(at::kDouble);
  const at::Tensor x = embeddings.to(at::kCPU, at::kDouble);
  const at::Tensor centred = x - x.mean(0);
  const at::Tensor means = at::zeros({sizes.size(0), x.size(1)}, x.options())
                               .index_add_(0, index, centred)
                               .div_(sizes.unsqueeze(1));
  const double within = (centred - means.index_select(0, index)).square().sum().item<double>();
  // A group of one adds nothing to `within` and nothing here.
  const double freedom = static_cast<double>(x.size(0) - sizes.size(0));
  if (freedom < 1) return -1;
  const double total = centred.square().sum().item<double>();
  return total > 0 ? within / freedom * static_cast<double>(x.size(0) - 1) / total : 0.0;
}

double deviation_share(const at::Tensor& x) {
  constexpr double kNothing = 1e-6;  // lengths this small per dimension are rounding
  const at::NoGradGuard no_grad;
  const at::Tensor rows = exact_rows(x, 1);
  const double deviation = (rows - rows.mean(0)).square().sum(1).mean().sqrt().item<double>();
  const double length = rows.square().sum(1).mean().sqrt().item<double>();
  const bool nothing = length < kNothing * std::sqrt(static_cast<double>(rows.size(1)));
  return nothing ? 0 : deviation / length;
}

}  // namespace cpl
