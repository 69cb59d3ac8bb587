#pragma once
// The figures of an experiment, from the files of its finished cells: no network is run.
//
//   kind = scores       numbers of the table against an axis      x = codes, y = nmi ami,
//   linear_top1 kind = history      lines of metrics.jsonl against epochs     y = test_accuracy
//   kind = spectrum     singular values of the covariance         of = embedding | representation
//   kind = entropy      entropy against mixture components        of = ..., padded = true
//   kind = matrices     covariance and adjacency as heat maps
//   kind = dynamics     losses, adjacency and a t-SNE map of each setting, side by side
//   kind = dictionary   W'W and the distribution of its elements (no cells)
//
// In `y` a comma begins another chart and a blank another line of the same one. `log = x`, `y` or
// `xy` makes axes logarithmic. Charts are made for each value of the axis `data`, lines for each
// combination of the other axes; `only` chooses cells; points are means over seeds with their
// deviation.

#include <string>
#include <vector>

#include "cplearn/study/results.h"

namespace cpl {

struct Drawing {
  std::string svg, csv;  // both empty when no finished cell has what is needed
};

Drawing draw_figure(const Figure& figure, const std::vector<CellResult>& results);

}  // namespace cpl
