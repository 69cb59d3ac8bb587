#include "cplearn/simd/isa.h"

#include "cplearn/simd/targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>
#include <stdexcept>

namespace cpl::simd {
namespace {

// What the machine can do, before anything was forced.
const std::vector<int64_t>& targets() {
  static const std::vector<int64_t> all = hwy::SupportedAndGeneratedTargets();
  return all;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string instruction_set() {
  return hwy::TargetName(hwy::SupportedAndGeneratedTargets().front());
}

void force_instruction_set(const std::string& name) {
  int64_t mask = 0;
  std::string known;
  for (const int64_t target : targets()) {
    if (name == hwy::TargetName(target)) mask = target;
    known += std::string(known.empty() ? "" : ", ") + hwy::TargetName(target);
  }
  if (!name.empty() && mask == 0)
    throw std::invalid_argument("CPLEARN_ISA: no instruction set '" + name +
                                "' on this machine; it has " + known);
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace cpl::simd
