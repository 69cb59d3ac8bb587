#pragma once
// CPLEARN_ISA=SSE4 build/release/tests/plain_tests: every test of the program on one instruction
// set.

#include <gtest/gtest.h>

#include <cstdlib>

#include "cplearn/simd/isa.h"

namespace cpl {

// Before every test, since some try all instruction sets and return to the best.
class ForcedIsa : public testing::EmptyTestEventListener {
 public:
  static bool append() {
    if (std::getenv("CPLEARN_ISA"))
      testing::UnitTest::GetInstance()->listeners().Append(new ForcedIsa);
    return true;
  }
  void OnTestStart(const testing::TestInfo&) override {
    simd::force_instruction_set(std::getenv("CPLEARN_ISA"));
  }
};

}  // namespace cpl
