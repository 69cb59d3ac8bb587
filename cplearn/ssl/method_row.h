#pragma once
// A row of the table of methods (method_options.h), without torch.
//
// A method's own options are a struct with
//   static constexpr MethodRow kRow   its name, summary and defaults
//   friend make_method(...)           declared there, defined in the method's source
//   visit()                           its settings, whose names begin with the method's

#include <functional>
#include <memory>

namespace cpl {

class Backbone;
class Method;
struct MethodOptions;

struct MethodRow {
  const char* name;
  const char* summary;
  const char* defaults;  // where its settings differ from TrainOptions', as a config file
};

// Makes a backbone with fresh weights; methods with a teacher call it twice.
using BackboneMaker = std::function<std::shared_ptr<Backbone>()>;

}  // namespace cpl
