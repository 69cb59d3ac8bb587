#pragma once
// The settings of Self-Classifier, and its row in the table of methods; self_classifier.h says what
// they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct SelfClassifierOptions {
  static constexpr MethodRow kRow{
      "self_classifier", "the same class for both views, classes balanced (Amrani et al., 2022)",
      "codes = 64\nhidden = 4096\n"};
  friend std::shared_ptr<Method> make_method(const SelfClassifierOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  std::int64_t width = 128;
  double row_temperature = 0.1;
  double column_temperature = 0.05;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("self-classifier-width", width, "width of the embeddings", AtLeast{1});
    v("self-classifier-row-temperature", row_temperature,
      "temperature of the predictions, over classes", Between{1e-4, 100});
    v("self-classifier-column-temperature", column_temperature,
      "temperature of the targets, over images", Between{1e-4, 100});
  }
};

}  // namespace cpl
