// cplearn info: the version, the machine, what this build can do.

#include "cli/command.h"
#include "cplearn/base/machine.h"
#include "cplearn/base/processor.h"
#include "cplearn/base/table.h"
#include "cplearn/base/version.h"
#include "cplearn/data/data_kind.h"
#include "cplearn/nn/backbone/backbone_options.h"
#include "cplearn/simd/isa.h"
#include "cplearn/ssl/method_options.h"

namespace cpl::cli {
namespace {

int run_info(const Common& common) {
  const std::vector<std::string> sets = simd::instruction_sets();
  Json names = Json::array(), data = Json::array(), methods = Json::array();
  TextTable method_table({"method", "what it is", "its own defaults"});
  TextTable backbone_table({"backbone", "what it is"}), data_table({"--data", "what it is"});
  for (const auto& row : cpl::methods()) {
    methods.push_back(row.name);
    std::string defaults = row.defaults;
    for (std::size_t at; (at = defaults.find('\n')) != std::string::npos;)
      defaults.replace(at, 1, at + 1 < defaults.size() ? ", " : "");
    method_table.add({row.name, row.summary, defaults});
  }
  for (const auto& row : cpl::backbones()) {
    names.push_back(row.name);
    backbone_table.add({row.name, row.help});
  }
  for (const auto& row : data_kinds()) {
    data.push_back(row.name);
    data_table.add({row.usage, row.help});
  }
  const std::vector<Limit> limits = apply_limits();
  const std::string blas = blas_kernels();
  const std::string usable = features(read_processor());
  common.say() << "cplearn " << version() << ", libtorch " << torch_version() << "\n"
               << processor_name() << ", " << core_count() << " cores"
               << (usable.empty() ? "" : " (" + usable + ")") << ", "
               << readable_bytes(static_cast<double>(available_memory()))
               << " of memory free\nkernels for " << CLI::detail::join(sets, ", ")
               << " (in use: " << simd::instruction_set()
               << "); BLAS kernels: " << (blas.empty() ? "not OpenBLAS's" : blas) << "\n";
  Json limited = Json::array();
  for (const Limit& limit : limits) {
    common.say() << "! " << limit.variable << "=" << limit.value << ": " << limit.reason << "\n";
    limited.push_back({{"variable", limit.variable},
                       {"value", limit.value},
                       {"reason", limit.reason},
                       {"by_user", limit.by_user}});
  }
  common.say() << "\n"
               << method_table.str() << "\n"
               << backbone_table.str() << "\n"
               << data_table.str();
  common.result({{"version", version()},
                 {"libtorch", torch_version()},
                 {"onednn", torch_has_onednn()},
                 {"processor", processor_name()},
                 {"processor_features", usable},
                 {"cores", core_count()},
                 {"threads", thread_count(common.threads)},
                 {"instruction_sets", sets},
                 {"instruction_set", simd::instruction_set()},
                 {"blas_kernels", blas},
                 {"limits", limited},
                 {"methods", methods},
                 {"backbones", names},
                 {"data", data}});
  return kSuccess;
}

}  // namespace

Run declare_info(CLI::App&) { return run_info; }

}  // namespace cpl::cli
