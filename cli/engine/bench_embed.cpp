// cplearn bench embed: features from images to disk, beside the network's forward pass alone.

#include <torch/torch.h>

#include <cmath>

#include "cli/engine/bench.h"
#include "cplearn/base/error.h"
#include "cplearn/study/feature_file.h"
#include "cplearn/train/run.h"

namespace cpl::cli {

int run_bench_embed(const BenchEmbedArguments& o, const Common& common) {
  const auto data = open_dataset(o.train.data, DatasetOptions());
  const AugmentOptions views =
      evaluation_views(resolve_image_size(o.train), find_normalisation(data->statistics()));
  const std::shared_ptr<Method> method = make_network(o.train);
  method->eval();
  const auto images = static_cast<double>(data->size());

  // The forward pass alone, on images that are there already.
  const torch::NoGradGuard no_grad;
  const int side = views.views.front().size;
  const at::Tensor batch = torch::randn({FeatureOptions().batch, 3, side, side})
                               .contiguous(at::MemoryFormat::ChannelsLast);
  const double batches = images / static_cast<double>(batch.size(0));
  const auto forward_all = [&] {
    for (int i = 0; i < static_cast<int>(batches); ++i) method->backbone().forward(batch);
  };
  CPL_CHECK(batches >= 1, "bench embed needs at least ", batch.size(0), " images, got ",
            data->size());
  const TemporaryFolder folder;
  const std::string file = folder.path + "/features.npy";
  StepClock forward_clock, whole_clock;
  for (int i = 0; i < o.steps; ++i) {  // in turns: a shared machine changes its mind
    forward_clock.run(1, forward_all);
    whole_clock.run(1, [&] { write_features(*method, *data, views, o.what, file, {}); });
  }
  const Timing forward = forward_clock.timing(), whole = whole_clock.timing();
  const double forward_images = std::floor(batches) * static_cast<double>(batch.size(0));
  const double share = (forward.best / forward_images) / (whole.best / images);

  TextTable table({"what", "images/s", "median", "spread"});
  table.add({"from images to the file", readable(images / whole.best),
             readable(images / whole.median), spread_text(whole)});
  table.add({"forward pass alone", readable(forward_images / forward.best),
             readable(forward_images / forward.median), spread_text(forward)});
  common.say() << o.train.data << ", " << o.train.backbone << ", "
               << name_of(kFeatureKindNames, o.what) << "\n\n"
               << table.str() << kClockNote << "\n"
               << readable(100 * share) << " % of the time is the forward pass\n";
  Json result = {{"images_per_second", images / whole.best},
                 {"forward_images_per_second", forward_images / forward.best},
                 {"forward_share", share}};
  put_timing(result, "", whole);
  put_timing(result, "forward_", forward);
  common.result(result);
  return kSuccess;
}

}  // namespace cpl::cli
