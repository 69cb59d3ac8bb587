// The tests that use libtorch on the instruction set that CPLEARN_ISA names.

#include "tests/forced_isa.h"

namespace cpl {
namespace {

const bool kForced = ForcedIsa::append();

TEST(ForcedIsa, IsInUse) {
  const char* name = std::getenv("CPLEARN_ISA");
  EXPECT_EQ(simd::instruction_set(), name ? name : simd::instruction_sets().front());
}

}  // namespace
}  // namespace cpl
