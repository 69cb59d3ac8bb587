#pragma once
// The row of CPLearn in the table of methods; its settings are those of the head, which methods
// share (nn/code_head_options.h).

#include "cplearn/ssl/method_row.h"

namespace cpl {

struct CplearnOptions {
  static constexpr MethodRow kRow{
      "cplearn",
      "agree on a code of a large frozen dictionary, use all codes (Sansone et al., 2025)", ""};
  friend std::shared_ptr<Method> make_method(const CplearnOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  template <class Visitor>
  void visit(Visitor&&) {}
};

}  // namespace cpl
