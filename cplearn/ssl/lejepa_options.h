#pragma once
// The settings of LeJEPA, and its row in the table of methods; lejepa.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct LejepaOptions {
  static constexpr MethodRow kRow{
      "lejepa", "views close, embeddings normal along random lines (Balestriero, LeCun, 2025)",
      "hidden = 512\n"};
  friend std::shared_ptr<Method> make_method(const LejepaOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  // As the library lightly has them: the paper's, but for t_max, which is 5 there and 3 in the
  // authors' own code. 1024 directions are within reach of a CPU, because cosines and sines are
  // not computed one by one (lejepa.cpp).
  double lambda = 0.05;
  std::int64_t slices = 1024;
  std::int64_t points = 17;
  double t_max = 3;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("lejepa-lambda", lambda, "weight of normality; 1 minus it weighs the distance of views",
      Between{0, 1});
    v("lejepa-slices", slices, "random directions per step", AtLeast{1});
    v("lejepa-points", points,
      "number of points where characteristic functions are compared, from 0 to t-max", AtLeast{2});
    v("lejepa-t-max", t_max, "the last point where they are compared", Between{1e-3, 100});
  }
};

}  // namespace cpl
