#pragma once
// CPLearn: a projector and a frozen dictionary behind a backbone (nn/code_head.h); the loss of
// nn/code_loss.h between views. With more than two views it is averaged over all pairs of a full
// view with another one, each pair once.
//
// Sansone, Lebailly, Tuytelaars, "Collapse-Proof Non-Contrastive Self-Supervised Learning", ICML
// 2025.

#include "cplearn/ssl/method_row.h"

namespace cpl {

extern const MethodRow kCplearn;

}  // namespace cpl
