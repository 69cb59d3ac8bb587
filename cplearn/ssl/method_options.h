#pragma once
// The table of methods and the settings of all of them, without torch. All that a new method adds
// to existing files is its include and its type here: command line, config files, help,
// checkpoints, evaluation and `cplearn info` follow from it.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "cplearn/nn/code_head_options.h"
#include "cplearn/ssl/barlow_options.h"
#include "cplearn/ssl/cplearn_options.h"
#include "cplearn/ssl/dino_options.h"
#include "cplearn/ssl/gedi_options.h"
#include "cplearn/ssl/lejepa_options.h"
#include "cplearn/ssl/self_classifier_options.h"
#include "cplearn/ssl/swav_options.h"
#include "cplearn/ssl/vicreg_options.h"
#include "cplearn/ssl/visreg_options.h"

namespace cpl {

using MethodTable = std::tuple<CplearnOptions, CplearnPaperOptions, BarlowOptions, VicregOptions,
                               LejepaOptions, VisregOptions, SwavOptions, DinoOptions,
                               SelfClassifierOptions, GediNogenOptions, GediOptions>;

// What every method can be told; each reads what concerns it.
struct MethodOptions {
  CodeHeadOptions head;  // codes, hidden, beta, ...: shared by the methods that have such a thing
  std::int64_t image_size = 32;  // side of full views; the trainer's, not asked of people

  template <class Own>
  Own& own() {
    return std::get<Own>(own_);
  }
  template <class Own>
  const Own& own() const {
    return std::get<Own>(own_);
  }
  const MethodTable& each() const { return own_; }

  // Width of the projector.
  std::int64_t hidden_or(std::int64_t features) const {
    return head.hidden > 0 ? head.hidden : features;
  }

  template <class Visitor>
  void visit(Visitor&& v) {
    head.visit(v);
    std::apply([&v](auto&... own) { (visit_own(own, v), ...); }, own_);
  }

 private:
  template <class Own, class Visitor>
  static void visit_own(Own& own, Visitor& v) {
    begin_topic(v, str("Method ", Own::kRow.name));
    own.visit(v);
  }

  MethodTable own_;
};

const std::vector<MethodRow>& methods();

// Throws cpl::Error, listing the names.
const MethodRow& find_method(const std::string& name);

}  // namespace cpl
