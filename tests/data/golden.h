#pragma once
// Reads tests/golden/augment_golden.json.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cplearn/data/image.h"

namespace cpl::test {

inline Image golden_image(const nlohmann::json& node) {
  Image image(node.at("width"), node.at("height"));
  const std::string hex = node.at("bytes");
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = std::uint8_t(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return image;
}

using Operation = std::function<Image(const std::string& operation,
                                      const std::vector<float>& arguments, const Image& picture)>;

// Applies `run` to every golden case of these operations and compares byte by byte.
inline void expect_golden(const std::set<std::string>& operations, const Operation& run) {
  const std::string file = CPLEARN_TEST_DATA "/augment_golden.json";
  std::ifstream in(file);
  ASSERT_TRUE(in) << file;
  const nlohmann::json golden = nlohmann::json::parse(in);
  int cases = 0;
  for (const nlohmann::json& node : golden.at("cases")) {
    const std::string operation = node.at("operation");
    if (operations.count(operation) == 0) continue;
    const Image before =
        golden_image(golden.at("pictures").at(node.at("picture").get<std::string>()));
    const Image expected = golden_image(node);
    const Image got = run(operation, node.at("arguments").get<std::vector<float>>(), before);
    ASSERT_EQ(got.width, expected.width) << node.at("name");
    ASSERT_EQ(got.height, expected.height) << node.at("name");
    EXPECT_EQ(got.pixels, expected.pixels) << node.at("name") << " of " << node.at("picture");
    ++cases;
  }
  EXPECT_GE(cases, 2 * static_cast<int>(operations.size()));
}

}  // namespace cpl::test
