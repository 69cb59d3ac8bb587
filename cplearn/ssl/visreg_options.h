#pragma once
// The settings of VISReg, and its row in the table of methods; visreg.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct VisregOptions {
  static constexpr MethodRow kRow{
      "visreg", "views close, embeddings centred, scaled and shaped as normal (Wu et al., 2026)",
      "hidden = 512\n"};
  friend std::shared_ptr<Method> make_method(const VisregOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  double lambda = 0.6;  // the paper's for little data; 0.9 for much
  std::int64_t slices = 256;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("visreg-lambda", lambda,
      "weight of centre, scale and shape; 1 minus it weighs the distance of views", Between{0, 1});
    v("visreg-slices", slices, "random directions per step", AtLeast{1});
  }
};

}  // namespace cpl
