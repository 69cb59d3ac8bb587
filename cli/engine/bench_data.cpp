// cplearn bench data: augmentation on one core, decoding, and the loader as training uses it.

#include "cli/engine/bench.h"
#include "cplearn/base/machine.h"
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
  StepClock reading;
  reading.run(1, 0, [&] {  // once: the second time they come from the cache
    for (std::size_t i = 0; i < n; ++i) dataset->load(i, images[i]);
  });
  Augmenter augmenter(augment, common.seed, Layout::kChannelsLast);
  std::vector<float> out(std::size_t(8192) * 3);
  for (const ViewOptions& view : augment.views)
    out.resize(std::max(out.size(), std::size_t(view.size) * view.size * 3));
  std::uint32_t epoch = 0;
  StepClock augmenting;
  augmenting.run(o.steps, [&] {
    ++epoch;
    for (std::size_t i = 0; i < n; ++i) {
      for (int view = 0; view < views; ++view)
        augmenter.make(images[i], i, epoch, view, out.data());
    }
  });

  LoaderOptions loading;
  loading.batch = static_cast<int>(n);
  loading.epochs = 1 << 20;
  loading.threads = thread_count(common.threads);
  Loader loader(*dataset, augment, loading);
  Batch batch;
  StepClock waiting;
  waiting.warm_up(loading.prefetch, [&] { return loader.next(batch); });
  // Many batches are one step of the clock: those made ahead cost nothing.
  const int batches = 4 * o.steps;
  waiting.run(3, [&] {
    for (int i = 0; i < batches; ++i) {
      if (!loader.next(batch)) return false;
    }
    return true;
  });

  Json result = {{"data", o.data}, {"augment", o.augment}, {"loader_threads", loading.threads}};
  TextTable table({"what", "per second", "median", "spread"});
  const auto put = [&](const std::string& words, const char* rate, const char* prefix, double count,
                       const StepClock& clock) {
    const Timing t = clock.timing();
    table.add({words, readable(count / t.best), readable(count / t.median), spread_text(t)});
    result[rate] = count / t.best;
    put_timing(result, prefix, t);
  };
  const auto read = static_cast<double>(n);
  put(str("views, recipe ", o.augment, ", one core"), "views_per_second_per_core", "augment_",
      read * views, augmenting);
  put(str("views, loader with ", loading.threads, " threads"), "loader_views_per_second", "loader_",
      read * views * batches, waiting);
  put("images read the first time, one core", "read_images_per_second", "read_", read, reading);
  common.say() << o.data << ", " << views << " views of " << augment.views[0].size << " pixels\n\n"
               << table.str() << kClockNote;
  common.result(result);
  return kSuccess;
}

}  // namespace cpl::cli
