#pragma once
// A page of verdicts: settings down, methods across, a square for each run. One file that needs
// nothing else.

#include <string>
#include <vector>

namespace cpl {

struct VerdictPage {
  struct Mark {
    int kind = 0;       // an index into `kinds`
    std::string words;  // shown when pointed at
  };
  struct Row {
    std::string name;
    std::vector<std::vector<Mark>> marks;  // for each column, a mark for each run
  };

  std::string title, words;
  std::vector<std::string> kinds;        // from good to bad, at most six
  std::vector<std::string> columns;      // methods
  std::vector<std::vector<int>> counts;  // for each column, of each kind
  std::vector<Row> rows;                 // settings
};

std::string verdict_page_html(const VerdictPage& page);

}  // namespace cpl
