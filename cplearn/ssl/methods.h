#pragma once
// All methods behind one face: their options together, and the table's rows by name.

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cplearn/nn/code_head_options.h"
#include "cplearn/ssl/method_table.h"

namespace cpl {

// A tuple of every row's own options.
template <class... Own>
std::tuple<Own...> own_options(const std::tuple<MethodEntry<Own>...>&);

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

  // Width of the projector.
  std::int64_t hidden_or(std::int64_t features) const {
    return head.hidden > 0 ? head.hidden : features;
  }

  template <class Visitor>
  void visit(Visitor&& v) {
    head.visit(v);
    std::apply([&v](auto&... each) { (each.visit(v), ...); }, own_);
  }

 private:
  decltype(own_options(kMethodTable)) own_;
};

const std::vector<MethodRow>& methods();

// Throws cpl::Error, listing the names.
const MethodRow& find_method(const std::string& name);

// Weights are drawn from torch's default generator.
std::shared_ptr<Method> make_method(const std::string& name, const BackboneMaker& make_backbone,
                                    const MethodOptions& options);

}  // namespace cpl
