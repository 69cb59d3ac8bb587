#include "cplearn/base/options.h"

#include <gtest/gtest.h>

#include "cplearn/base/table.h"

namespace cpl {
namespace {

TEST(Options, NearestNameFindsTyposAndNothingElse) {
  const std::vector<std::string> names = {"--width", "--codes", "--batch", "--beta"};
  EXPECT_EQ(nearest_name("--widht", names), "--width");
  EXPECT_EQ(nearest_name("--bta", names), "--beta");
  EXPECT_EQ(nearest_name("--resolution", names), "");
}

TEST(Table, AlignsColumnsAsMarkdown) {
  TextTable table({"a", "long name"});
  table.add({"1234", "x"});
  EXPECT_EQ(table.str(),
            "| a    | long name |\n"
            "|------|-----------|\n"
            "| 1234 | x         |\n");
}

TEST(Table, NumbersAreReadable) {
  EXPECT_EQ(readable(0.0012345), "0.001234");
  EXPECT_EQ(readable_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(readable_seconds(125), "2 min 05 s");
  EXPECT_EQ(readable_bytes(999), "999 B");
  EXPECT_EQ(readable_bytes(2272), "2.27 kB");
  EXPECT_EQ(readable_bytes(617e6), "617 MB");
}

}  // namespace
}  // namespace cpl
