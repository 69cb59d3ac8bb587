#include "cplearn/eval/assignment.h"

#include <algorithm>
#include <limits>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

constexpr std::int64_t kFree = -1;

// The row of each column, rows <= columns. `cost(i, j)` is minimised.
template <class Cost>
std::vector<std::int64_t> assign_rows(std::int64_t rows, std::int64_t columns, const Cost& cost) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> row_price(rows, 0), column_price(columns, 0), distance(columns);
  std::vector<std::int64_t> row_of(columns, kFree), previous(columns);
  std::vector<char> settled(columns);
  for (std::int64_t start = 0; start < rows; ++start) {
    // Dijkstra over reduced costs from the new row to the nearest free column.
    std::fill(distance.begin(), distance.end(), kInfinity);
    std::fill(previous.begin(), previous.end(), kFree);
    std::fill(settled.begin(), settled.end(), 0);
    std::vector<std::int64_t> path_columns;
    double reached = 0;
    std::int64_t row = start, column = kFree;
    do {
      std::int64_t nearest = kFree;
      for (std::int64_t j = 0; j < columns; ++j) {
        if (settled[j]) continue;
        const double through = reached + cost(row, j) - row_price[row] - column_price[j];
        if (through < distance[j]) {
          distance[j] = through;
          previous[j] = column;  // the settled column whose row we came from
        }
        if (nearest == kFree || distance[j] < distance[nearest]) nearest = j;
      }
      column = nearest;
      reached = distance[column];
      settled[column] = 1;
      path_columns.push_back(column);
      row = row_of[column];
    } while (row != kFree);

    row_price[start] += reached;
    for (const std::int64_t j : path_columns) {
      column_price[j] -= reached - distance[j];
      if (row_of[j] != kFree) row_price[row_of[j]] += reached - distance[j];
    }
    while (column != kFree) {  // shift the assignments along the path
      const std::int64_t before = previous[column];
      row_of[column] = before == kFree ? start : row_of[before];
      column = before;
    }
  }
  return row_of;
}

}  // namespace

std::vector<std::int64_t> best_assignment(const std::vector<double>& gain, std::int64_t rows,
                                          std::int64_t columns) {
  CPL_CHECK(rows >= 0 && columns >= 0 && static_cast<std::int64_t>(gain.size()) == rows * columns,
            "the assignment of ", rows, " rows to ", columns, " columns needs rows x columns gains",
            ", got ", gain.size());
  if (rows > columns) {  // the columns choose their rows
    return assign_rows(columns, rows,
                       [&](std::int64_t i, std::int64_t j) { return -gain[j * columns + i]; });
  }
  const std::vector<std::int64_t> row_of = assign_rows(
      rows, columns, [&](std::int64_t i, std::int64_t j) { return -gain[i * columns + j]; });
  std::vector<std::int64_t> column_of(rows, kFree);
  for (std::int64_t j = 0; j < columns; ++j)
    if (row_of[j] != kFree) column_of[row_of[j]] = j;
  return column_of;
}

}  // namespace cpl
