#pragma once
// The settings of Barlow Twins, and its row in the table of methods; barlow.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct BarlowOptions {
  static constexpr MethodRow kRow{
      "barlow", "Barlow Twins: features correlate with themselves only (Zbontar et al., 2021)",
      "hidden = 512\n"};
  friend std::shared_ptr<Method> make_method(const BarlowOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  double lambda = 0.0051;
  double scale = 0.1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("barlow-lambda", lambda, "weight of correlations between different features", AtLeast{0});
    v("barlow-scale", scale, "factor of the whole loss", AtLeast{0});
  }
};

}  // namespace cpl
