#include "cplearn/train/monitor.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "cplearn/train/checkup.h"

namespace cpl {
namespace {

constexpr std::int64_t kRecent = kCheckupImages;  // representations kept
constexpr double kHorizon = 50;                   // steps that running means look back

}  // namespace

Monitor::Monitor(std::int64_t features, std::int64_t codes, std::int64_t images)
    : images_(images),
      usage_(register_buffer("usage", at::zeros({codes}, at::kDouble))),
      means_(register_buffer("means", at::zeros({2}, at::kDouble))),
      count_(register_buffer("count", at::zeros({}, at::kLong))),
      recent_(register_buffer("recent", at::zeros({kRecent, features}))),
      written_(register_buffer("written", at::zeros({}, at::kLong))),
      start_rank_(register_buffer("start_rank", at::zeros({}, at::kDouble))) {}

void Monitor::observe(const StepResult& result, Method& method) {
  const at::NoGradGuard no_grad;
  const double weight = std::max(1 / (count_.item<double>() + 1), 1 / kHorizon);  // mean at first
  count_ += 1;
  if (result.usage.defined()) usage_.lerp_(result.usage.to(usage_.options()), weight);
  means_.lerp_(at::tensor({result.entropy, result.cross_entropy}, at::kDouble), weight);

  const at::Tensor rows = result.representations.to(recent_.options());
  const std::int64_t n = std::min(rows.size(0), kRecent);
  const std::int64_t begin = written_.item<std::int64_t>() % kRecent;
  const std::int64_t first = std::min(n, kRecent - begin);  // then around to the beginning
  recent_.narrow(0, begin, first).copy_(rows.narrow(0, 0, first));
  if (n > first) recent_.narrow(0, 0, n - first).copy_(rows.narrow(0, first, n - first));
  written_ += n;
  if (start_rank_.item<double>() == 0 && written_.item<std::int64_t>() >= kRecent)
    start_rank_.fill_(signs(method).rank);
}

at::Tensor Monitor::recent() const {
  return recent_.narrow(0, 0, std::min(kRecent, written_.item<std::int64_t>()));
}

VitalSigns Monitor::signs(Method& method) const {
  const at::NoGradGuard no_grad;
  const at::Tensor z = recent();
  if (z.size(0) < 2) return {};
  VitalSigns signs = vital_signs(method, z.to(method.parameters().front().device()));
  signs.images = static_cast<double>(std::min(z.size(0), images_));  // some may be there twice
  if (usage_.numel() > 0) {
    const double entropy = -(usage_ * (usage_ + 1e-300).log()).sum().item<double>();
    signs.information = std::max(0.0, entropy - means_[0].item<double>());
    signs.agreement = entropy - means_[1].item<double>();
  }
  return signs;
}

VitalSigns Monitor::start() const {
  VitalSigns signs;
  const double rank = start_rank_.item<double>();
  if (rank > 0) signs.rank = rank;
  return signs;
}

void Monitor::load_state(const NamedTensors& values) {
  if (values.count("start_rank") > 0) copy_tensors(values, module_state(*this));
}

}  // namespace cpl
