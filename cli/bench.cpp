// cplearn bench: one subcommand per part, each beside what a user would write instead.

#include "cli/bench.h"

namespace cpl::cli {

Run declare_bench(CLI::App& app) {
  app.require_subcommand(1);
  auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  const auto add = [&](const char* name, const char* summary, Run (*declare)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name, summary);
    runs->emplace_back(sub, declare(*sub));
  };
  add("head", "The fused head beside the straightforward libtorch graph, in one run",
      declare_bench_head);
  add("train", "Training steps with augmentation, beside the straightforward graph",
      declare_bench_train);
  add("data", "Augmentation and decoding, per core", declare_bench_data);
  add("embed", "Features from images to disk, beside the forward pass alone", declare_bench_embed);
  return [runs](const Common& common) {
    for (const auto& [sub, run] : *runs) {
      if (*sub) return run(common);
    }
    return static_cast<int>(kUsage);
  };
}

}  // namespace cpl::cli
