#include "cplearn/report/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cpl {
namespace {

const ComparedRow& row(const std::vector<ComparedRow>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const ComparedRow& r) { return r.name == name; });
  if (found == rows.end()) throw std::runtime_error("no row " + name);
  return *found;
}

TEST(Comparison, TellsWhatDiffers) {
  RunRecord a, b;
  a.settings = {{"codes", "64", "1024", ""}, {"beta", "0.5", "0.5", ""}};
  b.settings = {{"codes", "64", "1024", ""}, {"beta", "10", "0.5", ""}, {"new", "1", "", ""}};
  a.summary = {{"run", "a"}, {"loss", 1.25}, {"advice", {"words"}}, {"verdict", "healthy"}};
  b.summary = {{"loss", 1.25}, {"verdict", "collapsed\033[2J"}};
  b.eval = {{"codes_used", 3}, {"untrained", {{"ami", 0.0}}}};
  b.diagnosis = {{"verdict", "collapsed"}, {"cluster", {{"value", 1.5}}}, {"dimensional", 3}};
  const Comparison c = compare_runs({a, b});
  EXPECT_FALSE(row(c.settings, "codes").differs);
  EXPECT_TRUE(row(c.settings, "beta").differs);
  EXPECT_EQ(row(c.settings, "new").values, (std::vector<std::string>{"", "1"}));
  EXPECT_TRUE(row(c.settings, "new").differs);
  EXPECT_FALSE(row(c.results, "loss").differs);
  EXPECT_EQ(row(c.results, "verdict").values[1], "collapsed?[2J");  // no terminal obeys a file
  EXPECT_EQ(row(c.results, "eval codes_used").values[1], "3");
  EXPECT_EQ(row(c.results, "diagnose cluster").values[1], "1.5");
  EXPECT_EQ(c.results.size(), 5);  // neither run, advice nor objects
}

}  // namespace
}  // namespace cpl
