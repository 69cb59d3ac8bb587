#include "cplearn/dist/gather.h"

#include <torch/torch.h>

namespace cpl {
namespace {

struct GatherRows : torch::autograd::Function<GatherRows> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows,
                            std::int64_t workers) {
    context->saved_data["workers"] = workers;
    context->saved_data["rows"] = rows.size(0);
    auto& group = *reinterpret_cast<WorkerGroup*>(workers);
    std::vector<std::int64_t> shape = rows.sizes().vec();
    shape[0] *= group.size();
    at::Tensor all = at::zeros(shape, rows.options());
    own_rows(all, rows.size(0), group).copy_(rows);
    group.sum(all);
    return all;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto& group = *reinterpret_cast<WorkerGroup*>(context->saved_data["workers"].toInt());
    at::Tensor sum = gradients[0].clone();
    group.sum(sum);
    return {own_rows(sum, context->saved_data["rows"].toInt(), group), {}};
  }
};

}  // namespace

at::Tensor own_rows(const at::Tensor& gathered, std::int64_t rows, const WorkerGroup& workers) {
  return gathered.narrow(0, workers.rank() * rows, rows);
}

at::Tensor gather_rows(const at::Tensor& rows, WorkerGroup& workers) {
  if (workers.size() == 1) return rows;
  return GatherRows::apply(rows, reinterpret_cast<std::int64_t>(&workers));
}

}  // namespace cpl
