#include "cplearn/train/checkup.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/measures.h"
#include "cplearn/eval/spectrum.h"
#include "cplearn/eval/view_agreement.h"
#include "cplearn/train/features.h"
#include "cplearn/train/untrained.h"

namespace cpl {
namespace {

constexpr int kSampleBatch = 64;
constexpr std::uint64_t kOwnSeed = 0x6a7564676521;  // apart from the order of training

AugmentOptions alternating(const AugmentOptions& augment, int views) {
  AugmentOptions result = augment;
  const int size = augment.views.front().size;  // local crops are smaller, and not compared
  std::vector<ViewOptions> full;
  for (const ViewOptions& view : augment.views)
    if (view.size == size) full.push_back(view);
  result.views.clear();
  for (int v = 0; v < views; ++v) result.views.push_back(full[v % full.size()]);
  return result;
}

// In evaluation mode as long as it lives.
class Evaluating {
 public:
  explicit Evaluating(Method& method) : method_(method), was_training_(method.is_training()) {
    method.eval();
  }
  ~Evaluating() { method_.train(was_training_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  Method& method_;
  bool was_training_;
};

}  // namespace

at::Tensor sample_views(Method& method, const Dataset& data, const AugmentOptions& augment,
                        int views, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  LoaderOptions pass;
  pass.batch = static_cast<int>(std::min<std::size_t>(kSampleBatch, data.size()));
  pass.seed = seed ^ kOwnSeed;
  pass.drop_last = false;
  Loader loader(data, alternating(augment, views), pass);
  const at::Device device = method.parameters().front().device();
  std::vector<at::Tensor> rows;
  std::int64_t count = 0;
  Batch batch;
  while (count < kCheckupImages && loader.next(batch)) {
    ViewGroup& group = batch.groups.front();
    const auto n = static_cast<std::int64_t>(batch.size());
    const at::Tensor pixels =
        torch::from_blob(group.pixels.data(), {views * n, group.size, group.size, 3})
            .permute({0, 3, 1, 2});
    const at::Tensor z = method.backbone().forward(pixels.to(device)).to(at::kFloat);
    rows.push_back(z.view({views, n, -1}).transpose(0, 1));
    count += n;
  }
  return torch::cat(rows);
}

std::optional<CodeComparison> compare_codes(Method& method, const at::Tensor& a,
                                            const at::Tensor& b,
                                            const std::function<void(std::int64_t)>& progress) {
  const torch::NoGradGuard no_grad;
  const std::int64_t n = a.size(0), codes = method.codes();
  if (codes == 0 || !method.log_probabilities(a.narrow(0, 0, 1)).defined()) return std::nullopt;
  // Few enough rows at a time to hold the probabilities of all codes.
  const std::int64_t part = std::min(rows_at_once(codes), n);
  const auto in_parts = [&](std::int64_t done, const auto& take) {
    for (std::int64_t begin = 0; begin < n; begin += part) {
      const std::int64_t rows = std::min(part, n - begin);
      take(method.log_probabilities(a.narrow(0, begin, rows)),
           method.log_probabilities(b.narrow(0, begin, rows)));
      if (progress) progress(done + begin + rows);
    }
  };
  CodeUsage first(codes), both(codes);
  in_parts(0, [&](const at::Tensor& p, const at::Tensor& q) {
    first.add(p.exp());
    both.add(p.exp());
    both.add(q.exp());
  });
  ViewAgreement agreement(both.mean());
  in_parts(n, [&](const at::Tensor& p, const at::Tensor& q) { agreement.add(p, q); });
  return CodeComparison{first, agreement.cross_entropy(), agreement.information()};
}

VitalSigns signs_of(const at::Tensor& x) {
  VitalSigns signs;
  signs.images = static_cast<double>(x.size(0));
  signs.deviation = deviation_share(x);
  signs.rank = effective_rank(covariance_spectrum(x, true));
  signs.width = static_cast<double>(x.size(1));
  return signs;
}

VitalSigns vital_signs(Method& method, const at::Tensor& z) {
  const torch::NoGradGuard no_grad;
  const Evaluating evaluating(method);
  VitalSigns signs = signs_of(z);
  const VitalSigns embeddings = signs_of(method.embed(z));
  signs.embedding_deviation = embeddings.deviation;
  signs.embedding_rank = embeddings.rank;
  signs.embedding_width = embeddings.width;
  if (method.codes() == 0) return signs;
  const at::Tensor code = method.assign(z).code.contiguous();
  const Labels codes(code.data_ptr<std::int64_t>(), code.data_ptr<std::int64_t>() + code.numel());
  CodeUsage usage(method.codes());
  usage.add(codes);
  signs.codes = static_cast<double>(method.codes());
  signs.used = usage.perplexity();
  const double within = within_share(z, codes);
  if (within >= 0) signs.within = within;
  return signs;
}

VitalSigns check_up(Method& method, const Dataset& data, const AugmentOptions& augment,
                    std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const Evaluating evaluating(method);
  const at::Tensor views = sample_views(method, data, augment, 2, seed);
  const at::Tensor a = views.select(1, 0).contiguous(), b = views.select(1, 1).contiguous();
  VitalSigns signs = vital_signs(method, a);
  signs.found = own_view_found(a, b);
  signs.embedding_found = own_view_found(method.embed(a), method.embed(b));
  if (const auto codes = compare_codes(method, a, b, {})) {
    signs.information = codes->usage.information();
    signs.agreement = codes->agreement;
  }
  return signs;
}

VitalSigns check_up_untrained(const TrainOptions& options, const Dataset& data,
                              const AugmentOptions& augment) {
  const torch::NoGradGuard no_grad;
  const std::shared_ptr<Method> method = fresh_network(options);
  method->embed(sample_views(*method, data, augment, 2, options.seed).flatten(0, 1));
  return check_up(*method, data, augment, options.seed);
}

}  // namespace cpl
