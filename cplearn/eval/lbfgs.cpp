#include "cplearn/eval/lbfgs.h"

#include <cmath>
#include <deque>
#include <numeric>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add_scaled(Vector& to, double factor, const Vector& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

struct Pair {
  Vector step, change;  // of x and of the gradient
  double curvature;     // step * change, > 0
};

// The two-loop recursion: -H gradient, H from the pairs and the preconditioner.
Vector descent(const Vector& gradient, const std::deque<Pair>& pairs,
               const Precondition& precondition) {
  Vector direction = gradient;
  Vector factors(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    factors[i] = dot(pairs[i].step, direction) / pairs[i].curvature;
    add_scaled(direction, -factors[i], pairs[i].change);
  }
  precondition(direction);
  if (!pairs.empty()) {  // the factor that fits the last pair best
    Vector change = pairs.back().change;
    precondition(change);
    const double factor = pairs.back().curvature / dot(pairs.back().change, change);
    for (double& x : direction) x *= factor;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double back = dot(pairs[i].change, direction) / pairs[i].curvature;
    add_scaled(direction, factors[i] - back, pairs[i].step);
  }
  for (double& x : direction) x = -x;
  return direction;
}

}  // namespace

LbfgsResult minimise_lbfgs(Vector& x, const Objective& objective, const Precondition& precondition,
                           const LbfgsOptions& options) {
  constexpr double kSufficient = 1e-4;  // Armijo: this part of the predicted decrease is enough
  constexpr int kHalvings = 30;
  LbfgsResult result;
  std::deque<Pair> pairs;
  Vector gradient(x.size());
  result.value = objective(x, gradient);
  result.evaluations = 1;
  CPL_CHECK(std::isfinite(result.value), "L-BFGS starts at a value of ", result.value,
            "; the inputs must be finite");
  while (result.iterations < options.max_iterations) {
    const Vector direction = descent(gradient, pairs, precondition);
    const double slope = dot(gradient, direction);
    if (!(-0.5 * slope > options.tolerance)) {
      result.converged = slope <= 0;  // uphill: the preconditioner was not positive definite
      break;
    }
    double length = 1;
    Vector next, next_gradient(x.size());
    double value = INFINITY;
    int halvings = 0;
    for (; halvings < kHalvings; ++halvings, length *= 0.5) {
      next = x;
      add_scaled(next, length, direction);
      value = objective(next, next_gradient);
      ++result.evaluations;
      if (value <= result.value + kSufficient * length * slope) break;
    }
    if (halvings == kHalvings) {  // the rest is rounding
      result.converged = true;
      break;
    }
    ++result.iterations;
    Pair pair{direction, next_gradient, 0};
    for (double& s : pair.step) s *= length;
    add_scaled(pair.change, -1, gradient);
    pair.curvature = dot(pair.step, pair.change);
    if (pair.curvature > 0) pairs.push_back(std::move(pair));
    if (static_cast<int>(pairs.size()) > options.memory) pairs.pop_front();
    x = std::move(next);
    gradient = std::move(next_gradient);
    result.value = value;
  }
  return result;
}

}  // namespace cpl
