#include "cplearn/simd/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/forced_isa.h"

namespace cpl::simd {
namespace {

const bool kForced = ForcedIsa::append();

TEST(InstructionSets, AreForcedByNameAndGivenBack) {
  const std::string before = instruction_set();
  const std::vector<std::string> all = instruction_sets();
  ASSERT_FALSE(all.empty());
  EXPECT_NE(std::find(all.begin(), all.end(), before), all.end());
  for (const std::string& name : all) {
    force_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
    EXPECT_EQ(instruction_sets(), all);
  }
  EXPECT_THROW(force_instruction_set("MMX"), std::invalid_argument);
  force_instruction_set("");
  EXPECT_EQ(instruction_set(), all.front());
  force_instruction_set(before);
}

}  // namespace
}  // namespace cpl::simd
