#include "cplearn/train/checkpoint.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>
#include <torch/version.h>

#include "cplearn/base/error.h"
#include "cplearn/base/machine.h"
#include "cplearn/simd/isa.h"

namespace cpl {
namespace {

constexpr const char* kFormat = "cplearn checkpoint 1";
constexpr const char* kFact = "fact:";

std::string entry(const Metadata& metadata, const std::string& key, const std::string& path) {
  const auto found = metadata.find(key);
  CPL_CHECK(found != metadata.end(), path, " has no '", key,
            "': it is not a checkpoint of cplearn train");
  return found->second;
}

}  // namespace

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Metadata metadata = {{"format", kFormat},
                       {"step", std::to_string(checkpoint.step)},
                       {"config", checkpoint.config},
                       {"normalisation", checkpoint.normalisation}};
  for (const auto& [name, value] : checkpoint.facts) metadata[kFact + name] = value;
  save_tensors(path, checkpoint.tensors, metadata);
}

Checkpoint load_checkpoint(const std::string& path) {
  TensorFile file = load_tensors(path);
  const std::string format = entry(file.metadata, "format", path);
  CPL_CHECK(format == kFormat, path, " has the format '", format, "', expected '", kFormat,
            "': it was written by another version of cplearn");
  Checkpoint result;
  const std::string step = entry(file.metadata, "step", path);
  CPL_CHECK(!step.empty() && step.size() < 19 &&
                step.find_first_not_of("0123456789") == std::string::npos,
            path, " has the step '", step, "', expected a number");
  result.step = std::stoll(step);
  result.config = entry(file.metadata, "config", path);
  result.normalisation = entry(file.metadata, "normalisation", path);
  const std::string prefix = kFact;
  for (const auto& [key, value] : file.metadata) {
    if (key.rfind(prefix, 0) == 0) result.facts[key.substr(prefix.size())] = value;
  }
  result.tensors = std::move(file.tensors);
  return result;
}

Metadata current_facts() {
  return {{"threads", std::to_string(at::get_num_threads())},
          {"processor", processor_name()},
          {"instruction set", simd::instruction_set()},
          {"libtorch", TORCH_VERSION}};
}

std::string changed_facts(const Metadata& before, const Metadata& now) {
  std::string changes;
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old == before.end() || old->second == value) continue;
    changes += str(changes.empty() ? "" : "; ", name, " was ", old->second, " and is ", value);
  }
  return changes.empty() ? ""
                         : str(changes, ". The run goes on, but not bit for bit as it would have.");
}

}  // namespace cpl
