#pragma once
// The settings of DINO, and its row in the table of methods; dino.h says what they mean.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct DinoOptions {
  static constexpr MethodRow kRow{
      "dino", "predict what a slow teacher says about another view (Caron et al., 2021)",
      "codes = 4096\nhidden = 512\n"};
  friend std::shared_ptr<Method> make_method(const DinoOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  std::int64_t width = 256;
  double student_temperature = 0.1;
  double teacher_temperature = 0.07;
  double first_temperature = 0.04;
  double warmup = 30;
  double momentum = 0.996;
  double centre_momentum = 0.9;
  double freeze = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("dino-width", width, "width of the embeddings", AtLeast{1});
    v("dino-student-temperature", student_temperature, "temperature of the predictions",
      Between{1e-4, 100});
    v("dino-teacher-temperature", teacher_temperature,
      "temperature of the targets, after the warm-up", Between{1e-4, 100});
    v("dino-first-temperature", first_temperature, "temperature of the targets in the first step",
      Between{1e-4, 100});
    v("dino-warmup", warmup,
      "epochs between these two temperatures, at most a quarter of the training", AtLeast{0});
    v("dino-momentum", momentum, "how much of the teacher a step leaves, at first; 1 at the end",
      Between{0, 1});
    v("dino-centre-momentum", centre_momentum,
      "how much of the centre of its outputs a step leaves", Between{0, 1});
    v("dino-freeze", freeze, "epochs before prototypes move, at most a quarter of the training",
      AtLeast{0});
  }
};

}  // namespace cpl
