#include "cplearn/ssl/slices.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include "cplearn/base/random.h"
#include "cplearn/dist/gather.h"

namespace cpl {

at::Tensor gather_views(const std::vector<at::Tensor>& views, WorkerGroup& workers) {
  return gather_rows(torch::stack(views, 1), workers).transpose(0, 1);  // one exchange for all
}

at::Tensor distance_to_centre(const at::Tensor& z, std::int64_t globals) {
  const at::Tensor centre = z.narrow(0, 0, std::min(globals, z.size(0))).mean(0);  // N x d
  return (z - centre).pow(2).mean();
}

at::Tensor random_directions(std::uint64_t seed, std::int64_t step, std::int64_t count,
                             std::int64_t width) {
  const at::Tensor directions = torch::empty({count, width});
  float* values = directions.data_ptr<float>();
  at::parallel_for(0, count, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Random random(seed, Stream::kDirections, static_cast<std::uint64_t>(step),
                    static_cast<std::uint32_t>(i));
      for (std::int64_t j = 0; j < width; ++j) values[i * width + j] = random.normal();
    }
  });
  namespace F = torch::nn::functional;
  return F::normalize(directions, F::NormalizeFuncOptions().dim(1));
}

}  // namespace cpl
