#pragma once
// The settings of SwAV, and its row in the table of methods; swav.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct SwavOptions {
  static constexpr MethodRow kRow{
      "swav", "predict the balanced cluster of another view (Caron et al., 2020)",
      "codes = 3000\nhidden = 2048\n"};
  friend std::shared_ptr<Method> make_method(const SwavOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  std::int64_t width = 128;
  double temperature = 0.1;
  double epsilon = 0.05;
  std::int64_t iterations = 3;
  std::int64_t queue = 3840;
  double queue_from = 50;
  double freeze = 2;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("swav-width", width, "width of the embeddings", AtLeast{1});
    v("swav-temperature", temperature, "temperature of the predictions", Between{1e-4, 100});
    v("swav-epsilon", epsilon, "temperature of Sinkhorn; smaller makes harder assignments",
      Between{1e-4, 100});
    v("swav-iterations", iterations, "iterations of Sinkhorn", AtLeast{1});
    v("swav-queue", queue, "earlier embeddings that share the balancing; 0: none", AtLeast{0});
    v("swav-queue-from", queue_from,
      "epochs before the queue is used, at most a quarter of the training", AtLeast{0});
    v("swav-freeze", freeze, "epochs before prototypes move, at most a quarter of the training",
      AtLeast{0});
  }
};

}  // namespace cpl
