#pragma once
// The table of methods. A new one is a header, a source, a test, a row in methods.cpp and, if it
// has options of its own, a member here.

#include <memory>
#include <string>
#include <vector>

#include "cplearn/nn/code_head_options.h"
#include "cplearn/ssl/method.h"

namespace cpl {

// What every method can be told; each reads what concerns it. An option that means something to
// one method only begins with that method's name.
struct MethodOptions {
  CodeHeadOptions head;

  template <class Visitor>
  void visit(Visitor&& v) {
    head.visit(v);
  }
};

struct MethodRow {
  const char* name;
  const char* summary;
  std::shared_ptr<Method> (*make)(std::shared_ptr<Backbone> backbone, const MethodOptions& options);
};

const std::vector<MethodRow>& methods();

// Weights are drawn from torch's default generator. Throws cpl::Error, listing the names.
std::shared_ptr<Method> make_method(const std::string& name, std::shared_ptr<Backbone> backbone,
                                    const MethodOptions& options);

}  // namespace cpl
