#pragma once
// The settings of VICReg, and its row in the table of methods; vicreg.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct VicregOptions {
  static constexpr MethodRow kRow{
      "vicreg", "views close, features varied and uncorrelated (Bardes et al., 2022)",
      "hidden = 512\n"};
  friend std::shared_ptr<Method> make_method(const VicregOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  double invariance = 25;
  double variance = 25;
  double covariance = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("vicreg-invariance", invariance, "weight of the distance between views", AtLeast{0});
    v("vicreg-variance", variance, "weight of features that vary too little", AtLeast{0});
    v("vicreg-covariance", covariance, "weight of covariances between features", AtLeast{0});
  }
};

}  // namespace cpl
