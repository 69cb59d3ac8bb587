#include "cplearn/base/text.h"

#include <gtest/gtest.h>

namespace cpl {
namespace {

using Parts = std::vector<std::string>;

TEST(Text, TrimsSplitsAndJoins) {
  EXPECT_EQ(trim(" \ta b\r"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(split("a, b c,, d", ','), (Parts{"a", "b c", "", "d"}));
  EXPECT_EQ(split("", ','), Parts{});
  EXPECT_EQ(words("  a  b "), (Parts{"a", "b"}));
  EXPECT_EQ(joined({"a", "b"}), "a, b");
  EXPECT_EQ(joined({}), "");
}

TEST(Printable, LeavesTextAndTakesControlCharacters) {
  EXPECT_EQ(printable("0.2 ± 0.1\n\tα ≤ β €"), "0.2 ± 0.1\n\tα ≤ β €");
  EXPECT_EQ(printable("\033[2J\033]0;title\007\r\b\177"), "?[2J?]0;title????");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J\xC2\xA0"),
            "?2J\xC2\xA0");
  EXPECT_EQ(printable(std::string("a\0b\xC2", 4)), "a?b?");
  EXPECT_EQ(printable("\x9B"
                      "2J\xE2\x82z"),
            "?2J??z");
  EXPECT_EQ(printable("\xC0\x9B\xE0\x80\x9B\xED\xA0\x80\xF5\x80\x80\x80 \xF0\x9F\x98\x80"),
            "???????????? \xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace cpl
