// The front program: it has no torch, and becomes the engine when a command needs it.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "cli/engine.h"
#include "cli/main.h"
#include "cplearn/base/error.h"
#include "cplearn/base/processor.h"
#include "cplearn/simd/isa.h"

namespace cpl::cli {
namespace {

namespace fs = std::filesystem;

// Beside this program (a build), or where CMake installs it.
fs::path engine_path() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path beside = here / "cplearn-engine";
  std::error_code ignored;
  return fs::exists(beside, ignored) ? beside : here / CPLEARN_ENGINE_FOLDER / "cplearn-engine";
}

}  // namespace

const Engine& engine() {
  apply_limits();  // the engine inherits the environment, and loads its libraries with it
  const fs::path path = engine_path();
  std::cout.flush();
  ::execv(path.c_str(), const_cast<char**>(arguments_of_process()));
  throw Error(str("cannot start ", path.string(), ": ", std::strerror(errno),
                  "; build or install cplearn again"));
}

void prepare(const Common&) {
  if (const char* isa = std::getenv("CPLEARN_ISA")) simd::force_instruction_set(isa);
}

}  // namespace cpl::cli
