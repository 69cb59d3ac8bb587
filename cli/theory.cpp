// cplearn theory: the paper's statements, expected and found.

#include "cplearn/eval/theory.h"

#include "cli/command.h"
#include "cplearn/base/table.h"

namespace cpl::cli {
namespace {

int run(TheoryOptions options, const Common& common) {
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

}  // namespace

Run declare_theory(CLI::App& app) {
  auto options = std::make_shared<TheoryOptions>();
  AddOptions add(app);
  add("width", options->width, "f = c, an order of a Hadamard matrix: 4, 8, 12, 16, 20, 24, ...",
      AtLeast{3});
  add("batch", options->batch, "n, a multiple of the width", AtLeast{1});
  add("beta", options->beta, "weight of the invariance term", AtLeast{0});
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace cpl::cli
