#pragma once
// Reads tests/golden/*.json, and repeats the features that eval_golden.py makes.

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "cplearn/base/error.h"

namespace cpl::test {

inline nlohmann::json read_golden(const std::string& name) {
  const std::string path = CPLEARN_TEST_DATA "/" + name;
  std::ifstream in(path);
  CPL_CHECK(in, "cannot open ", path);
  return nlohmann::json::parse(in);
}

inline const nlohmann::json& eval_golden() {
  static const nlohmann::json golden = read_golden("eval_golden.json");
  return golden;
}

struct GoldenFeatures {
  std::vector<float> values;  // rows x columns
  std::vector<std::int64_t> labels;
};

inline GoldenFeatures golden_features(std::uint32_t rows, std::uint32_t columns,
                                      std::uint32_t classes) {
  const auto noise = [](std::uint32_t cell, std::uint32_t salt) {
    std::uint32_t x = (cell + salt) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return static_cast<float>(x >> 16) / 65536.0f;
  };
  GoldenFeatures out;
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint32_t label = (i * 5 + i / 7) % classes;
    out.labels.push_back(label);
    for (std::uint32_t j = 0; j < columns; ++j) {
      const std::uint32_t cell = i * columns + j;
      const auto centre = static_cast<float>((label * 31 + j * 17) % 13);
      out.values.push_back((noise(cell, 1) + noise(cell, 100003) + noise(cell, 200003)) * 4 +
                           centre * 0.125f);
    }
  }
  return out;
}

}  // namespace cpl::test
