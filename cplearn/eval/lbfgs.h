#pragma once
// L-BFGS (Liu and Nocedal, 1989) for smooth convex functions, with a preconditioner.

#include <functional>
#include <vector>

namespace cpl {

struct LbfgsOptions {
  int memory = 10;
  int max_iterations = 500;
  // Stops when the predicted decrease of the value, half of -gradient * direction, is under this.
  double tolerance = 1e-7;
};

struct LbfgsResult {
  double value = 0;
  int iterations = 0;
  int evaluations = 0;
  bool converged = false;  // false when the iterations ran out
};

// Value at x; writes the gradient (of x's size).
using Objective =
    std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;
// Replaces a gradient by M^-1 gradient, M positive definite and near the Hessian up to a factor.
using Precondition = std::function<void(std::vector<double>& gradient)>;

// Minimises from x, in place.
LbfgsResult minimise_lbfgs(std::vector<double>& x, const Objective& objective,
                           const Precondition& precondition, const LbfgsOptions& options);

}  // namespace cpl
