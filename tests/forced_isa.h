#pragma once
// CPLEARN_ISA=SSE4 build/release/tests/plain_tests: every test of the program on one instruction
// set.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

// body() on each instruction set of this machine in turn, the best first; then on as before.
template <class Body>
void on_every_instruction_set(const Body& body) {
  const std::string before = simd::instruction_set();
  for (const std::string& name : simd::instruction_sets()) {
    SCOPED_TRACE(name);
    simd::force_instruction_set(name);
    body();
  }
  simd::force_instruction_set(before);
}

}  // namespace cpl
