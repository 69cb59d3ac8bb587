// cplearn bench data: augmentation on one core, decoding, and the loader as training uses it.

#include <thread>

#include "cli/engine/bench.h"
#include "cplearn/base/table.h"
#include "cplearn/data/augment.h"
#include "cplearn/data/loader.h"

namespace cpl::cli {

int run_bench_data(const BenchDataArguments& o, const Common& common) {
  DatasetOptions data;
  data.seed = common.seed;
  const std::unique_ptr<Dataset> dataset = open_dataset(o.data, data);
  RecipeOptions recipe;
  recipe.statistics = dataset->statistics();
  recipe.size = o.image_size;
  const AugmentOptions augment = make_recipe(o.augment, recipe);
  const auto views = static_cast<int>(augment.views.size());
  const auto n = std::min(static_cast<std::size_t>(o.batch), dataset->size());

  std::vector<Image> images(n);
  const double decode = best_seconds(1, [&] {
    for (std::size_t i = 0; i < n; ++i) dataset->load(i, images[i]);
  });
  Augmenter augmenter(augment, common.seed, Layout::kChannelsLast);
  std::vector<float> out(std::size_t(8192) * 3);
  for (const ViewOptions& view : augment.views)
    out.resize(std::max(out.size(), std::size_t(view.size) * view.size * 3));
  std::uint32_t epoch = 0;
  const double seconds = best_seconds(o.steps, [&] {
    ++epoch;
    for (std::size_t i = 0; i < n; ++i) {
      for (int view = 0; view < views; ++view)
        augmenter.make(images[i], i, epoch, view, out.data());
    }
  });
  const double rate = static_cast<double>(n) * views / seconds;

  LoaderOptions loading;
  loading.batch = static_cast<int>(n);
  loading.epochs = 1 << 20;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  loading.threads = common.threads > 0 ? common.threads : static_cast<int>(cores);
  Loader loader(*dataset, augment, loading);
  Batch batch;
  for (int i = 0; i < loading.prefetch; ++i) loader.next(batch);
  const int batches = 4 * o.steps;
  const double loaded = best_seconds(1, [&] {
    for (int i = 0; i < batches; ++i) loader.next(batch);
  });
  const double loader_rate = static_cast<double>(n) * views * batches / loaded;

  TextTable table({"what", "per second"});
  table.add({str("views, recipe ", o.augment, ", one core"), readable(rate)});
  table.add({str("views, loader with ", loading.threads, " threads"), readable(loader_rate)});
  table.add({"images read the first time, one core", readable(static_cast<double>(n) / decode)});
  common.say() << o.data << ", " << views << " views of " << augment.views[0].size << " pixels\n\n"
               << table.str();
  common.result({{"data", o.data},
                 {"augment", o.augment},
                 {"views_per_second_per_core", rate},
                 {"loader_views_per_second", loader_rate},
                 {"loader_threads", loading.threads},
                 {"read_images_per_second", static_cast<double>(n) / decode}});
  return kSuccess;
}

}  // namespace cpl::cli
