// cplearn embed: what a run makes of images, as NumPy files for any other tool.

#include <chrono>
#include <memory>

#include "cli/command.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/study/feature_file.h"
#include "cplearn/study/run_data.h"

namespace cpl::cli {
namespace {

struct Options {
  std::string run, data, out = "features.npy";
  FeatureKind what = FeatureKind::kRepresentation;
};

int run(const Options& o, const Common& common) {
  cpl::Run trained = open_run(o.run);
  const auto [spec, data] = open_run_data(trained, o.data, 0);
  FeatureFile file;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(static_cast<std::int64_t>(data->size()), "images", common.progress());
    file = write_features(*trained.method, *data, trained.views, o.what, o.out,
                          [&](std::int64_t done) { progress.update(done); });
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double rate = static_cast<double>(file.rows) / took.count();
  common.say() << name_of(kFeatureKindNames, o.what) << " of " << file.rows << " images of "
               << printable(spec) << ", " << file.columns << " wide: " << o.out
               << ", names and labels: " << file.index << " (" << readable(rate) << " images/s)\n";
  for (const BadFile& bad : data->bad_files())
    common.say() << "! left out: " << printable(bad.file + ": " + bad.reason) << "\n";
  common.result({{"file", o.out},
                 {"index", file.index},
                 {"what", name_of(kFeatureKindNames, o.what)},
                 {"rows", file.rows},
                 {"columns", file.columns},
                 {"images_per_second", rate}});
  return kSuccess;
}

}  // namespace

Run declare_embed(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("run", options->run, "a run directory, or one of its checkpoints")->required();
  AddOptions add(app);
  add("data", options->data, "images; default: those the run was trained on");
  add("out", options->out, "the .npy file; a .csv with file names and labels goes beside it");
  add("what", options->what, "of each image", kFeatureKindNames);
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace cpl::cli
