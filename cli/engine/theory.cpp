// cplearn theory: the paper's statements, expected and found.

#include "cplearn/eval/theory.h"

#include "cli/engine/commands.h"
#include "cplearn/base/table.h"

namespace cpl::cli {
int run_theory(const TheoryOptions& given, const Common& common) {
  TheoryOptions options = given;
  options.seed = common.seed;
  const std::vector<TheoryCheck> checks = check_theory(options);
  TextTable table({"statement", "checked", "expected", "found", ""});
  Json list = Json::array();
  int failed = 0;
  for (const TheoryCheck& check : checks) {
    table.add({check.statement, check.what,
               (check.at_least ? ">= " : "") + readable(check.expected), readable(check.found),
               check.holds() ? "holds" : "FAILS"});
    list.push_back({{"statement", check.statement},
                    {"what", check.what},
                    {"expected", check.expected},
                    {"found", check.found},
                    {"tolerance", check.tolerance},
                    {"holds", check.holds()}});
    failed += !check.holds();
  }
  common.say() << "f = c = " << options.width << ", n = " << options.batch
               << ", beta = " << options.beta << ", eps = 1e-8, in double precision\n\n"
               << table.str() << "\n"
               << checks.size() - static_cast<std::size_t>(failed) << " of " << checks.size()
               << " hold.\n";
  common.result({{"checks", list}, {"failed", failed}});
  return failed == 0 ? kSuccess : kFailure;
}

}  // namespace cpl::cli
