#pragma once
// What a row of the table of methods is. Each method defines its own in its source.

#include <memory>

#include "cplearn/ssl/method.h"

namespace cpl {

struct MethodRow {
  const char* name;
  const char* summary;
  const char* defaults;  // where its settings differ from TrainOptions', as a config file
  std::shared_ptr<Method> (*make)(const BackboneMaker& make_backbone, const MethodOptions& options);
};

// For MethodRow::make.
template <class Class>
std::shared_ptr<Method> make_as(const BackboneMaker& make_backbone, const MethodOptions& options) {
  return std::make_shared<Class>(make_backbone, options);
}

// A row with the type of the method's own options, whose names begin with the method's name.
template <class Own>
struct MethodEntry {
  const MethodRow* row;
};

struct NoOptions {
  template <class Visitor>
  void visit(Visitor&&) {}
};

}  // namespace cpl
