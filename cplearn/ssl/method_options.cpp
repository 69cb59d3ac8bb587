#include "cplearn/ssl/method_options.h"

namespace cpl {

const std::vector<MethodRow>& methods() {
  static const std::vector<MethodRow> table = std::apply(
      [](const auto&... own) { return std::vector<MethodRow>{own.kRow...}; }, MethodTable());
  return table;
}

const MethodRow& find_method(const std::string& name) {
  return find_row(methods(), "method", name);
}

}  // namespace cpl
