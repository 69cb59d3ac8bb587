#pragma once
// What LeJEPA and VISReg share: every view of an image near its centre, and embeddings looked at
// along random directions. A distribution is the normal one if it is so along all of them (Cramer,
// Wold, 1936).

#include "cplearn/ssl/method.h"

namespace cpl {

// V x N x d: all views, with the rows of all workers. views: each n x d.
at::Tensor gather_views(const std::vector<at::Tensor>& views, WorkerGroup& workers);

// mean over v, n and features of (z_vn - mu_n)^2, where mu_n is the mean of the first `globals`
// views of image n. No gradient is stopped. z: V x N x d.
at::Tensor distance_to_centre(const at::Tensor& z, std::int64_t globals);

// count x width, float: rows of unit length, uniform on the sphere. A function of its arguments
// alone: all workers get the same, a resumed run goes on with the same, and torch's generator is
// not touched.
at::Tensor random_directions(std::uint64_t seed, std::int64_t step, std::int64_t count,
                             std::int64_t width);

}  // namespace cpl
