#pragma once
// Measures of representations that need no labels: with which of these can one choose between runs?
// docs/judge.md has how well each of them follows the accuracy of probes. Spectra give more:
// RankMe, alpha-ReQ and NESum are functions of eval/spectrum.h.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cplearn/eval/contingency.h"

namespace cpl {

// LiDAR (Thilak et al., ICLR 2024): how many directions tell images apart that views of an image
// do not: exp of the entropy of the eigenvalues of Sw^-1/2 Sb Sw^-1/2, with Sb the covariance
// between and Sw the mean covariance within images. `views`: n x q x d, at least 2 views.
double lidar(const at::Tensor& views);

// IdEst (2026): the intrinsic dimension by the growth of minimum spanning trees. A tree of n points
// on a set of dimension D has a length ~ n^(1 - 1/D); the slope comes from sixteen subsets of
// the points. `x`: n x d, at least 32 rows; more than 2,048 are sampled. Infinity where
// the tree grows as fast as its points.
double intrinsic_dimension(const at::Tensor& x, std::uint64_t seed);

// SelfCluster: how much closer cosines are than those of random directions would be: 0 for a
// uniform sphere, 1 for a single point. `x`: n x d.
double self_cluster(const at::Tensor& x);

// The share of images whose other view is the nearest of all other views, by the cosine of what is
// left after the mean is taken away: 1 / n by chance. `a`, `b`: n x d, two views of n images.
double own_view_found(const at::Tensor& a, const at::Tensor& b);

// Root mean square deviation from the mean / root mean square length: 0 for a constant, 1 for what
// is centred. `x`: n x d.
double deviation_share(const at::Tensor& x);

// Unbiased variance within groups of at least two points / unbiased total variance; -1 when no
// group has two points, and 0 when nothing varies. `x`: n x d, `groups`: n.
double within_share(const at::Tensor& x, const Labels& groups);

}  // namespace cpl
