#include "cplearn/train/preflight.h"

#include <malloc.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "cplearn/base/table.h"
#include "cplearn/train/checkpoint.h"

namespace cpl {
namespace {

double allocated_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const auto info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
#else
  return 0;
#endif
}

}  // namespace

double training_memory(Method& method, const TrainOptions& options, const AugmentOptions& augment) {
  constexpr std::int64_t kImages = 4;
  const at::Tensor random = torch_random_state();
  double parameters = 0;
  for (const at::Tensor& p : method.parameters()) parameters += static_cast<double>(p.nbytes());
  const bool was_training = method.is_training();
  method.eval();  // leaves running statistics alone
  double per_image = 0;
  std::map<int, int> views_of_size;
  for (const ViewOptions& view : augment.views) ++views_of_size[view.size];
  for (const auto& [size, views] : views_of_size) {
    const at::Tensor images = torch::zeros({kImages, 3, size, size});
    method.student().forward(images);  // what is allocated once
    const double before = allocated_bytes();
    const at::Tensor z = method.student().forward(images);
    per_image += views * (allocated_bytes() - before) / kImages;
  }
  method.train(was_training);
  set_torch_random_state(random);
  const double part =
      std::ceil(static_cast<double>(options.batch) / static_cast<double>(options.accumulate));
  return 4 * parameters + 1.5 * part * std::max(0.0, per_image);
}

std::vector<std::string> preflight(const TrainOptions& options, const Outlook& outlook) {
  std::vector<std::string> words;
  const CodeHeadOptions& head = options.method_options.head;
  if (outlook.memory_needed > 0.9 * outlook.memory_free && outlook.memory_free > 0) {
    words.push_back(
        str("training needs about ", readable_bytes(outlook.memory_needed), " of memory and ",
            readable_bytes(outlook.memory_free), " are free: use --accumulate ",
            static_cast<int>(std::ceil(outlook.memory_needed / outlook.memory_free)) + 1,
            " or a smaller --batch"));
  }
  if (is_cplearn(options.method)) {
    if (head.codes > outlook.images) {
      words.push_back(str(head.codes, " codes for ", outlook.images,
                          " images: some codes must stay unused; fewer --codes do as well"));
    }
    if (head.scale == LogitScale::kAuthor && options.batch >= 16) {
      words.push_back(str("--scale author makes logits ",
                          readable(std::sqrt(static_cast<double>(options.batch))),
                          " times sharper than the theory's, which collapses more easily; "
                          "--scale theory is the sound one"));
    }
    if (head.beta == 0) {
      words.push_back(
          "beta is 0: nothing ties the views of an image together, so expect a "
          "collapse; --beta 0.4 serves well");
    } else if (head.beta > 1) {
      words.push_back(str("beta is ", readable(head.beta),
                          ": above 1 it rewards images that share codes, so expect few codes in "
                          "use; --beta 0.4 serves well"));
    }
    if (head.activation == Activation::kTanh && resolve_recipe(options) != "resnet8") {
      words.push_back(
          "--activation tanh collapses where views have little in common, as with these crops "
          "(docs/collapse.md); --activation l2 --scale deviation does not");
    }
    if (options.batch < 16) {
      words.push_back(str("a batch of ", options.batch,
                          " tells little about the use of codes; --batch 64 or more is better"));
    }
  }
  TrainOptions by_speed = options;
  by_speed.precision = Precision::kAuto;
  if (options.precision == Precision::kBf16 && !resolve_bf16(by_speed))
    words.push_back(str("bf16 is slower than fp32 for ", options.backbone,
                        " on this processor: --precision fp32 is faster here"));
  return words;
}

}  // namespace cpl
