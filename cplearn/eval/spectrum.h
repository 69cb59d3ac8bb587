#pragma once
// The spectrum of embeddings: how many directions they really use.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cpl {

// Singular values of the covariance X'X / n (d x d, symmetric: its eigenvalues), in decreasing
// order, in double, none below 0. `centred`: of the covariance proper; otherwise of the second
// moment, in which a large mean shows as one large value. min(n, d) values. `x`: n x d.
std::vector<double> covariance_spectrum(const at::Tensor& x, bool centred);

// RankMe (Garrido et al., 2023): exp of the entropy of the singular values of X (the roots of the
// above), each divided by their sum. Between 1 and the number of values; 0 if all are 0.
double effective_rank(const std::vector<double>& spectrum);

// NESum (He and Ozay, 2022): the sum of the eigenvalues / the largest; 0 if all are 0.
double spread_over_largest(const std::vector<double>& spectrum);

// The number of singular values of X above `fraction` of the largest.
std::int64_t directions_in_use(const std::vector<double>& spectrum, double fraction = 1e-3);

// alpha-ReQ (Agrawal et al., 2022): the exponent of spectrum_i ~ i^-alpha, by least squares on the
// logarithms with weights 1/i (as Stringer et al., 2019), over i = first..last (from 1; last = 0:
// all values above 1e-10 of the largest). Near 1 is well spread; above, few directions dominate.
struct PowerLaw {
  double alpha = 0;
  double fit = 0;  // R^2 of the line, 1 is exact
};
PowerLaw power_law(const std::vector<double>& spectrum, std::int64_t first = 1,
                   std::int64_t last = 0);

}  // namespace cpl
