// The engine program: every command, with libtorch.

#include "cli/engine.h"

#include <ATen/Parallel.h>

#include <cstdlib>

#include "cli/engine/commands.h"
#include "cplearn/base/machine.h"
#include "cplearn/base/processor.h"
#include "cplearn/simd/isa.h"

namespace cpl::cli {

const Engine& engine() {
  static const Engine table = {
      run_train,      run_eval,        run_diagnose,   run_embed,       run_cluster,
      run_data,       run_reproduce,   run_gauntlet,   run_theory,      run_dictionary,
      run_bench_head, run_bench_train, run_bench_data, run_bench_embed, write_diagnosis,
  };
  return table;
}

void prepare(const Common& common) {
  apply_limits();  // the front has done so; without it, oneDNN at least still listens
  at::set_num_threads(thread_count(common.threads));
  if (const char* isa = std::getenv("CPLEARN_ISA")) simd::force_instruction_set(isa);
}

}  // namespace cpl::cli
