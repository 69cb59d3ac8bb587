#pragma once
// A look at a network through a few hundred images, several views of each. The verdict at the end
// of a training and that of `cplearn diagnose` both come from here, so that they cannot disagree.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "cplearn/data/loader.h"
#include "cplearn/eval/code_usage.h"
#include "cplearn/eval/vital_signs.h"
#include "cplearn/ssl/method.h"
#include "cplearn/train/options.h"

namespace cpl {

constexpr std::int64_t kCheckupImages = 512;  // fewer if the data set has no more

// Two views of each. `augment`: as in training (resolve_augment).
VitalSigns check_up(Method& method, const Dataset& data, const AugmentOptions& augment,
                    std::uint64_t seed);

// What the probabilities of two views of the same images tell (n x features each); none where the
// method has no codes. `progress` gets the rows done, of 2 n.
struct CodeComparison {
  CodeUsage usage;       // of the first view
  double cross_entropy;  // between the views: the loss's invariance, nats
  double agreement;      // ViewAgreement::information()
};
std::optional<CodeComparison> compare_codes(Method& method, const at::Tensor& a,
                                            const at::Tensor& b,
                                            const std::function<void(std::int64_t)>& progress);

// Of rows alone, n x d: how much they differ, and in how many directions.
VitalSigns signs_of(const at::Tensor& x);

// What one view of each image says: `z`, n x features. NaN where it takes two.
VitalSigns vital_signs(Method& method, const at::Tensor& z);

// The same network before its training.
VitalSigns check_up_untrained(const TrainOptions& options, const Dataset& data,
                              const AugmentOptions& augment);

// Representations of any number of views of the same images, in the mode that the method is in: n x
// views x features. The full views of `augment` take turns; local crops are left out.
at::Tensor sample_views(Method& method, const Dataset& data, const AugmentOptions& augment,
                        int views, std::uint64_t seed);

}  // namespace cpl
