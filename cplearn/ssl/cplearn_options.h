#pragma once
// The rows of CPLearn in the table of methods; its settings are those of the head, which methods
// share (nn/code_head_options.h).

#include <string>

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

// The same, exactly as published.
struct CplearnPaperOptions {
  static constexpr MethodRow kRow{
      "cplearn_paper", "cplearn exactly as published: tanh, the theory's scale, a fixed beta",
      "activation = \"tanh\"\nbeta = 0.5\ncodes = 1024\nhidden = 0\nprior = "
      "\"reverse\"\nprojector-layers "
      "= 1\nrecover = false\nscale = \"theory\"\n"};
  friend std::shared_ptr<Method> make_method(const CplearnPaperOptions& own,
                                             const BackboneMaker& make_backbone,
                                             const MethodOptions& options);

  template <class Visitor>
  void visit(Visitor&&) {}
};

// Whether the loss is that of nn/code_loss.h on the frozen dictionary.
inline bool is_cplearn(const std::string& method) {
  return method == CplearnOptions::kRow.name || method == CplearnPaperOptions::kRow.name;
}

}  // namespace cpl
