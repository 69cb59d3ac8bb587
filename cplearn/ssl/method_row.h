#pragma once
// What a row of the table of methods is.

#include <memory>

#include "cplearn/ssl/method.h"

namespace cpl {

using MakeMethod = std::shared_ptr<Method>(const BackboneMaker& make_backbone,
                                           const MethodOptions& options);

struct MethodRow {
  const char* name;
  const char* summary;
  const char* defaults;  // lines of a config file: where it differs from TrainOptions
  MakeMethod* make;
};

// The same with the type of the method's own options, whose names begin with the method's name.
template <class Own>
struct MethodEntry : MethodRow {};

struct NoOptions {
  template <class Visitor>
  void visit(Visitor&&) {}
};

}  // namespace cpl
