#pragma once
// The one argument that names data everywhere: KIND[:WHERE][@SPLIT][#N][+ALTERATION], or just a
// folder.

#include <cstddef>
#include <string>
#include <vector>

namespace cpl {

struct DataSpec {
  std::string text;        // as written, for messages
  std::string kind;        // a row of data_kinds()
  std::string where;       // folder; for "shapes" the number of images, or empty
  std::string list;        // imagenet100: the file with the class names, or empty
  std::string split;       // "train", "test", "extra", or empty when none was written
  std::size_t first = 0;   // "#N": the first N after a seeded shuffle; 0: all
  std::string alteration;  // "+grey": a row of alterations(), or empty
};

// Throws an error that names the spec, what was found and the candidates.
DataSpec parse_spec(const std::string& text);

}  // namespace cpl
