#include "cplearn/study/gauntlet.h"

#include <gtest/gtest.h>

#include <set>

#include "cplearn/ssl/method_options.h"

namespace cpl {
namespace {

CellResult result(const std::string& method, const std::string& setting, std::uint64_t seed,
                  const nlohmann::ordered_json& numbers) {
  Cell cell;
  cell.name = method + "-" + setting + "-s" + std::to_string(seed);
  cell.axes = {{"method", method}, {"setting", setting}};
  cell.seed = seed;
  return {cell, "", numbers, false};
}

std::vector<GauntletRun> runs() {
  return gauntlet_runs(
      {result("a", "usual", 0, {{"verdict", "healthy"}}),
       result("a", "usual", 1, {{"verdict", "healthy"}, {"recoveries", 1}}),
       result("a", "tiny", 0, {{"verdict", "collapsed: cluster"}, {"recoveries", 2}}),
       result("b", "usual", 0, {{"verdict", "doubtful: dimensional"}}),
       result("b", "usual", 1, nullptr), result("b", "tiny", 0, nullptr)},
      {{"b-tiny-s0", "the loss is not a number"}});
}

TEST(Gauntlet, EveryRunHasItsFate) {
  std::vector<std::string> fates;
  for (const GauntletRun& run : runs()) fates.push_back(fate_name(run.fate));
  EXPECT_EQ(fates, (std::vector<std::string>{"healthy", "recovered", "collapsed", "doubtful",
                                             "not run", "failed"}));
}

TEST(Gauntlet, CountsByMethod) {
  const std::vector<FateCounts> counts = count_fates(runs());
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].runs(), 3);
  EXPECT_EQ(counts[0].of(Fate::kRecovered), 1);
  EXPECT_EQ(counts[0].of(Fate::kCollapsed), 1);
  EXPECT_EQ(counts[1].runs(), 2);  // one did not run
  EXPECT_EQ(counts[1].of(Fate::kFailed), 1);
}

TEST(Gauntlet, PageHasASquareForEachRun) {
  const VerdictPage page = gauntlet_page("a note", runs());
  ASSERT_EQ(page.rows.size(), 2u);
  EXPECT_EQ(page.rows[0].name, "usual");
  EXPECT_EQ(page.rows[0].marks[0].size(), 2u);
  EXPECT_EQ(page.rows[1].marks[1].front().words, "seed 0: failed, the loss is not a number");
  const std::string html = verdict_page_html(page);
  EXPECT_NE(html.find("<b class=\"k3\" title=\"seed 0: collapsed, collapsed: cluster\">c</b>"),
            std::string::npos);
}

TEST(Gauntlet, HasEveryMethodOfTheTableAndAHundredRunsOfTheDefault) {
  std::set<std::string> found;
  int of_default = 0;
  for (const Experiment& experiment : builtin_experiments()) {
    if (experiment.name != "gauntlet") continue;
    for (const Cell& cell : make_plan(experiment, "cpu", {}).cells) {
      found.insert(cell.axes.front().second);
      of_default += cell.axes.front().second == "cplearn";
    }
  }
  for (const MethodRow& row : methods()) EXPECT_EQ(found.count(row.name), 1u) << row.name;
  EXPECT_GE(of_default, 100);
}

}  // namespace
}  // namespace cpl
