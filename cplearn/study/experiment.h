#pragma once
// An experiment as text (configs/ has the paper's): what is varied, with which settings, what the
// paper found, what to draw.
//
//   title = Scores against the size of the dictionary
//   axis data = cifar10, svhn          # a cell for each combination of the axes' values ...
//   axis codes = 10, 128, 16384
//   seeds = 5                          # ... and each seed
//   columns = nmi, linear_top1         # what the table shows
//   lr = 1e-4                          # settings of `cplearn train`, and those of study/cell.h
//
//   [codes=16384]                      # settings of the cells for which this holds;
//   beta = 0.05                        # what is written later wins
//   [budget=smoke]
//   axis data = shapes                 # a budget may also change axes, seeds, columns
//
//   [paper]                            # the paper's numbers, a line for each setting
//   data     codes   nmi        linear_top1
//   cifar10  10      0.28±0.02  0.59±0.01
//
//   [figure scores]                    # see study/figures.h
//   kind = scores
//   [check]
//   codes=16384 / codes=10 : step_ms < 1.03
//
// An axis with the name of a setting sets it. A condition is about an axis, the budget, or a
// setting as it stands at that line; `[data=svhn|cifar10, codes=10]` asks for both. Cells with
// `skip = WHY` are not run. `seeds = 0`: nothing to run, only figures to draw.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cpl {

using Settings = std::map<std::string, std::string>;
using NamedText = std::vector<std::pair<std::string, std::string>>;  // in the order written

// One of `values` must be what `key` is.
struct Condition {
  std::string key;
  std::vector<std::string> values;
};
using Conditions = std::vector<Condition>;

// "data=svhn|cifar10, codes=10". Throws cpl::Error; `source` is what it calls the text.
Conditions parse_conditions(const std::string& text, const std::string& source);

struct Section {
  Conditions when;
  NamedText lines;
};

struct Figure {
  std::string name;
  Settings settings;
};

// `column` of the cells `of`, divided by that of the cells `over` if there are any, is at most
// `limit`.
struct Check {
  std::string text;
  Conditions of, over;
  std::string column;
  double limit = 0;
};

struct Experiment {
  std::string name, title;
  std::vector<Section> sections;
  std::vector<std::vector<std::string>> paper;  // the first row has the names
  std::vector<Figure> figures;
  std::vector<Check> checks;
};

Experiment parse_experiment(const std::string& name, const std::string& text,
                            const std::string& source);

// The experiments that are part of this program.
std::vector<Experiment> builtin_experiments();

// One run: a setting and a seed.
struct Cell {
  std::string name;  // also of its directory
  NamedText axes;
  Settings settings;
  std::uint64_t seed = 0;
};

struct Plan {
  std::string budget;
  std::string note;  // what the budget means, in words
  std::vector<std::string> axes;
  std::vector<std::string> columns;  // never `nmi` without what chance alone gives
  std::vector<Cell> cells;           // the first seed of every setting, then the second, ...
};

// What the command line changes.
struct PlanChanges {
  Settings settings;
  std::int64_t seeds = 0;  // 0: as many as the experiment says
  std::uint64_t first_seed = 0;
  Conditions only;
};

const std::vector<std::string>& budgets();  // smoke, cpu, paper
Plan make_plan(const Experiment& experiment, const std::string& budget, const PlanChanges& changes);

bool matches(const Conditions& conditions, const Cell& cell);

// What the paper has for this cell in this column, or "".
std::string paper_value(const Experiment& experiment, const Cell& cell, const std::string& column);

}  // namespace cpl
