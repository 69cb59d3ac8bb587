#include "cplearn/study/experiment.h"

#include <gtest/gtest.h>

#include <set>

#include "cplearn/base/error.h"
#include "cplearn/study/cell.h"
#include "cplearn/study/results.h"
#include "tests/error_of.h"

namespace cpl {
namespace {

const char kText[] = R"(
# a comment
title = Two axes
axis data = a, b
axis codes = 10, 200
seeds = 2
columns = nmi, loss
note = all of it
lr = 1e-4       # a comment after a value
[data=b]
lr = 1e-3
[codes=200, data=a|b]
beta = 0.05
[beta=0.05, data=b]
width = 16
[data=b, codes=10]
skip = too dull
[budget=smoke]
note = little
axis data = a
lr = 5
[paper]
data codes nmi
a    10    0.1±0.0
a    200   oom
[figure f]
kind = scores
[check]
codes=200 / codes=10 : loss < 2.5
)";

Plan plan_of(const char* budget, const PlanChanges& changes) {
  return make_plan(parse_experiment("e", kText, "text"), budget, changes);
}

TEST(Experiment, CellsAreCombinationsOfAxesForEachSeed) {
  const Plan plan = plan_of("paper", {});
  std::vector<std::string> names;
  for (const Cell& cell : plan.cells) names.push_back(cell.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a-codes10-s0", "a-codes200-s0", "b-codes200-s0",
                                             "a-codes10-s1", "a-codes200-s1", "b-codes200-s1"}));
  EXPECT_EQ(plan.note, "all of it");
}

TEST(Experiment, LaterSectionsWinAndConditionsSeeEarlierSettings) {
  const Plan plan = plan_of("paper", {});
  EXPECT_EQ(plan.cells[0].settings.at("lr"), "1e-4");
  EXPECT_EQ(plan.cells[0].settings.count("beta"), 0u);
  EXPECT_EQ(plan.cells[1].settings.at("beta"), "0.05");
  EXPECT_EQ(plan.cells[1].settings.count("width"), 0u);
  EXPECT_EQ(plan.cells[2].settings.at("lr"), "1e-3");
  EXPECT_EQ(plan.cells[2].settings.at("width"), "16");
  EXPECT_EQ(plan.cells[2].settings.at("codes"), "200");
}

TEST(Experiment, BudgetsChangeAxesAndSettings) {
  const Plan plan = plan_of("smoke", {});
  EXPECT_EQ(plan.cells.size(), 4u);
  EXPECT_EQ(plan.note, "little");
  EXPECT_EQ(plan.cells[0].settings.at("lr"), "5");
  EXPECT_THROW(plan_of("huge", {}), Error);
}

TEST(Experiment, TheCommandLineChangesWhatItNames) {
  PlanChanges changes;
  changes.settings["lr"] = "7";
  changes.seeds = 3;
  changes.first_seed = 10;
  changes.only = parse_conditions("codes=200, seed=11|12", "--only");
  const Plan plan = plan_of("paper", changes);
  ASSERT_EQ(plan.cells.size(), 4u);
  EXPECT_EQ(plan.cells[0].name, "a-codes200-s11");
  EXPECT_EQ(plan.cells[0].settings.at("lr"), "7");
  changes.only = parse_conditions("codes=3", "--only");
  EXPECT_THROW(plan_of("paper", changes), Error);
}

TEST(Experiment, NmiNeverStandsAlone) {
  EXPECT_EQ(plan_of("paper", {}).columns,
            (std::vector<std::string>{"nmi", "nmi_chance", "ami", "codes_used", "loss"}));
}

TEST(Experiment, ErrorsNameTheLine) {
  const auto message = [](const char* text) {
    return error_of([&] { parse_experiment("e", text, "file.ini"); });
  };
  EXPECT_NE(message("title = x\nnonsense").find("file.ini, line 2"), std::string::npos);
  EXPECT_NE(message("[data=a\n").find("line 1"), std::string::npos);
  EXPECT_NE(message("[data=a]\nseeds = 3\n").find("only depend on the budget"), std::string::npos);
  EXPECT_NE(message("[paper]\na b\n1\n").find("line 3"), std::string::npos);
  EXPECT_NE(message("[check]\nloss < 3\n").find("line 2"), std::string::npos);
}

// Cells and figures are written under names that a foreign text gives them.
TEST(Experiment, NamesLeadNowhereElse) {
  const auto message = [](const std::string& text) {
    return error_of([&] { parse_experiment("e", text, "file.ini"); });
  };
  for (const char* name : {"../x", "a/b", "/x", ".hidden", "..", "a\033[2J", "a\tb"}) {
    for (const std::string& text :
         {str("title = x\n[figure ", name, "]\n"), str("title = x\naxis data = svhn, ", name, "\n"),
          str("title = x\naxis ", name, " = 1, 2\n"),
          str("[budget=smoke]\naxis data = ", name, "\n")}) {
      const std::string words = message(text);
      EXPECT_NE(words.find("file.ini, line 2"), std::string::npos) << text << words;
      EXPECT_NE(words.find("without '/'"), std::string::npos) << words;
      EXPECT_EQ(words.find('\033'), std::string::npos) << words;
    }
  }
  EXPECT_NE(message("axis codes = 8,,64\n").find("file.ini, line 1: an empty value"),
            std::string::npos);
  EXPECT_NE(message("axis codes =\n").find("no values"), std::string::npos);
}

TEST(Experiment, CellsDoNotShareAFolder) {
  for (const char* axes : {"axis a = x-y, x\naxis b = z, y-z\n", "axis codes = 8, 8\n"}) {
    const Experiment experiment =
        parse_experiment("e", str("title = x\n", axes, "seeds = 1\n"), "file.ini");
    EXPECT_NE(error_of([&] { make_plan(experiment, "cpu", {}); }).find("share the folder"),
              std::string::npos);
  }
}

TEST(Experiment, BuiltInOnesHaveValidSettingsAtEveryBudget) {
  std::set<std::string> names;
  for (const Experiment& experiment : builtin_experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second);
    for (const std::string& budget : budgets()) {
      SCOPED_TRACE(experiment.name + " " + budget);
      const Plan plan = make_plan(experiment, budget, {});
      EXPECT_FALSE(plan.note.empty());
      for (const Cell& cell : plan.cells)
        EXPECT_NO_THROW(resolve_cell(cell, "shapes")) << cell.name;
    }
    // Every number of the paper belongs to a cell of the full protocol, or to one that is skipped.
    const Plan full = make_plan(experiment, "paper", {});
    for (std::size_t r = 1; r < experiment.paper.size(); ++r)
      EXPECT_EQ(experiment.paper[r].size(), experiment.paper[0].size());
    if (!experiment.paper.empty()) {
      std::size_t found = 0;
      for (const Cell& cell : full.cells) {
        bool any = false;
        for (const std::string& column : full.columns)
          any = any || !paper_value(experiment, cell, column).empty();
        found += any && cell.seed == 0;
      }
      EXPECT_GT(found, 0u) << experiment.name;
    }
  }
}

CellResult result(const char* name, const char* codes, std::uint64_t seed, double nmi,
                  double loss) {
  CellResult r;
  r.cell.name = name;
  r.cell.axes = {{"data", "a"}, {"codes", codes}};
  r.cell.seed = seed;
  r.numbers = {{"nmi", nmi}, {"loss", loss}};
  return r;
}

TEST(Results, MeanAndDeviationOverSeedsBesideThePaper) {
  const Experiment experiment = parse_experiment("e", kText, "text");
  const Plan plan = make_plan(experiment, "paper", {});
  std::vector<CellResult> results = {result("x", "10", 0, 0.1, 2), result("y", "200", 0, 0.5, 4),
                                     result("x", "10", 1, 0.3, 2), result("y", "200", 1, 0, 0)};
  results.back().numbers = nullptr;  // not finished
  const auto table = make_table(experiment, plan, results);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0]["seeds"], 2);
  EXPECT_DOUBLE_EQ(table[0]["nmi"]["mean"].get<double>(), 0.2);
  EXPECT_NEAR(table[0]["nmi"]["deviation"].get<double>(), 0.1 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(table[0]["nmi"]["paper"], "0.1±0.0");
  EXPECT_EQ(table[1]["seeds"], 1);
  EXPECT_EQ(table[1]["nmi"]["paper"], "oom");
  const std::string markdown = table_markdown(plan, table);
  EXPECT_NE(markdown.find("0.200±0.141"), std::string::npos) << markdown;
  EXPECT_NE(table_latex(plan, table).find("0.200$\\pm$0.141"), std::string::npos);
  EXPECT_NE(table_csv(plan, table).find("a,200,1,0.5,0.0,oom"), std::string::npos)
      << table_csv(plan, table);

  const auto checks = run_checks(experiment, results);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_DOUBLE_EQ(checks[0]["value"].get<double>(), 2);
  EXPECT_TRUE(checks[0]["passed"].get<bool>());
  results[1].numbers["loss"] = 6;
  EXPECT_FALSE(run_checks(experiment, results)[0]["passed"].get<bool>());
}

}  // namespace
}  // namespace cpl
