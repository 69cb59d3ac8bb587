// cplearn info: the version, the machine, what this build can do.

#include <ATen/Config.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <thread>

#include "cli/command.h"
#include "cplearn/base/machine.h"
#include "cplearn/base/table.h"
#include "cplearn/base/version.h"
#include "cplearn/data/data_kind.h"
#include "cplearn/nn/backbone/backbone.h"
#include "cplearn/simd/isa.h"
#include "cplearn/ssl/methods.h"

namespace cpl::cli {
namespace {

int run(const Common& common) {
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
  common.say() << "cplearn " << version() << ", libtorch " << TORCH_VERSION << "\n"
               << processor_name() << ", " << std::thread::hardware_concurrency() << " cores, "
               << readable_bytes(static_cast<double>(available_memory()))
               << " of memory free, kernels for " << CLI::detail::join(sets, ", ")
               << " (in use: " << simd::instruction_set() << ")\n\n"
               << method_table.str() << "\n"
               << backbone_table.str() << "\n"
               << data_table.str();
  common.result({{"version", version()},
                 {"libtorch", TORCH_VERSION},
                 {"onednn", at::hasMKLDNN()},
                 {"processor", processor_name()},
                 {"cores", std::thread::hardware_concurrency()},
                 {"threads", at::get_num_threads()},
                 {"instruction_sets", sets},
                 {"instruction_set", simd::instruction_set()},
                 {"methods", methods},
                 {"backbones", names},
                 {"data", data}});
  return kSuccess;
}

}  // namespace

Run declare_info(CLI::App&) { return run; }

}  // namespace cpl::cli
