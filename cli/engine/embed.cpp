// cplearn embed: what a run makes of images, as NumPy files for any other tool.

#include <chrono>
#include <memory>

#include "cli/engine/commands.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/study/feature_file.h"
#include "cplearn/study/run_data.h"

namespace cpl::cli {

int run_embed(const EmbedArguments& o, const Common& common) {
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

}  // namespace cpl::cli
