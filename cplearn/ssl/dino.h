#pragma once
// DINO: a student predicts, from every view, what a teacher says about the full ones. The teacher
// is a running mean of the student; its outputs are centred (against one output for all) and
// sharpened (against uniform outputs).
//
//   loss = -mean over full views i, other views j:  sum_k softmax_k((t_i - centre) / T_t) log
//   softmax_k(s_j / T_s)
//
// Caron, Touvron, Misra, Jegou, Mairal, Bojanowski, Joulin, "Emerging Properties in Self-Supervised
// Vision Transformers", ICCV 2021.

#include "cplearn/base/options.h"
#include "cplearn/ssl/method_row.h"

namespace cpl {

struct DinoOptions {
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
    v("dino-student-temperature", student_temperature, "of the predictions", Between{1e-4, 100});
    v("dino-teacher-temperature", teacher_temperature, "of the targets, after its warm-up",
      Between{1e-4, 100});
    v("dino-first-temperature", first_temperature, "of the targets in the first step",
      Between{1e-4, 100});
    v("dino-warmup", warmup,
      "epochs between these two temperatures, at most a quarter of the training", AtLeast{0});
    v("dino-momentum", momentum, "how much of the teacher a step leaves, at first; 1 at the end",
      Between{0, 1});
    v("dino-centre-momentum", centre_momentum, "the same for the centre of its outputs",
      Between{0, 1});
    v("dino-freeze", freeze, "epochs before prototypes move, at most a quarter of the training",
      AtLeast{0});
  }
};

// The teacher's distribution, n x c. scores: n x c, centre: c.
at::Tensor dino_targets(const at::Tensor& scores, const at::Tensor& centre, double temperature);

// The centre after seeing the teacher's scores of all workers.
at::Tensor dino_centre(const at::Tensor& centre, const at::Tensor& scores, double momentum,
                       WorkerGroup& workers);

extern const MethodRow kDino;

}  // namespace cpl
