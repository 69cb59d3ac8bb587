// cplearn data: looks at data sets, checks them, fetches them.

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "cli/engine/commands.h"
#include "cplearn/base/machine.h"
#include "cplearn/base/progress.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/data/contact_sheet.h"
#include "cplearn/data/dataset.h"
#include "cplearn/data/download.h"
#include "cplearn/data/spec.h"

namespace cpl::cli {
namespace {

// What decoding some or all images of a set tells.
struct Look {
  std::size_t read = 0;
  int least_width = 1 << 30, least_height = 1 << 30, most_width = 0, most_height = 0;
  std::map<std::pair<int, int>, std::size_t> sizes;
};

std::unique_ptr<Dataset> open(const DataArguments& options, const Common& common) {
  DatasetOptions data;
  data.seed = common.seed;
  data.cache_bytes = 0;  // everything is read once
  return open_dataset(options.spec, data);
}

// Decodes `count` images spread over the set, on all threads. Bad ones are remembered by the set.
Look look_at(const Dataset& dataset, std::size_t count, const Common& common) {
  Look look;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Progress progress(static_cast<std::int64_t>(count), "images", common.progress());
  const auto work = [&] {
    Image image;
    for (std::size_t i; (i = next++) < count;) {
      bool good = true;
      try {
        dataset.load(i * dataset.size() / count, image);
      } catch (const BadImage&) {
        good = false;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      progress.update(static_cast<std::int64_t>(i + 1));
      if (!good) continue;
      ++look.read;
      ++look.sizes[{image.width, image.height}];
      look.least_width = std::min(look.least_width, image.width);
      look.least_height = std::min(look.least_height, image.height);
      look.most_width = std::max(look.most_width, image.width);
      look.most_height = std::max(look.most_height, image.height);
    }
  };
  const int threads = thread_count(common.threads);
  std::vector<std::thread> workers;
  for (int t = 1; t < threads; ++t) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return look;
}

std::vector<std::size_t> class_counts(const Dataset& dataset) {
  std::vector<std::size_t> counts(dataset.classes().size());
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const int label = dataset.label(i);
    if (label >= 0) ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

Json describe(const Dataset& dataset, const DataArguments& options, const Look& look,
              const Common& common) {
  Json bad = Json::array();
  for (const BadFile& file : dataset.bad_files())
    bad.push_back({{"file", file.file}, {"reason", file.reason}});
  const std::string sizes =
      look.read == 0 ? "none could be read"
      : look.sizes.size() == 1
          ? str("all ", look.most_width, "x", look.most_height)
          : str(look.least_width, "x", look.least_height, " to ", look.most_width, "x",
                look.most_height, ", ", look.sizes.size(), " different");
  common.say() << options.spec << ": " << dataset.size() << " images, "
               << (dataset.labelled() ? str(dataset.classes().size(), " classes") : "no labels")
               << ", sizes " << sizes << ", " << bad.size() << " bad of " << look.read + bad.size()
               << " read\n";
  for (const BadFile& file : dataset.bad_files())
    common.say() << "  bad: " << printable(file.file + ": " + file.reason) << "\n";
  return {{"data", options.spec},
          {"images", dataset.size()},
          {"classes", dataset.classes().size()},
          {"bad", bad.size()},
          {"read", look.read},
          {"least_size", {look.least_width, look.least_height}},
          {"most_size", {look.most_width, look.most_height}},
          {"bad_files", bad}};
}

int info(const DataArguments& options, const Common& common) {
  const std::unique_ptr<Dataset> dataset = open(options, common);
  const std::size_t count = std::min(
      dataset->size(), static_cast<std::size_t>(std::max<std::int64_t>(1, options.sample)));
  const Look look = look_at(*dataset, count, common);
  Json result = describe(*dataset, options, look, common);

  if (dataset->labelled()) {
    const std::vector<std::size_t> counts = class_counts(*dataset);
    TextTable table({"class", "images", "share"});
    Json balance = Json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double share = static_cast<double>(counts[i]) / static_cast<double>(dataset->size());
      balance[dataset->classes()[i]] = counts[i];
      if (i < 20) table.add({dataset->classes()[i], std::to_string(counts[i]), readable(share)});
    }
    if (counts.size() > 20) table.add({str("... ", counts.size() - 20, " more"), "", ""});
    result["balance"] = balance;
    common.say() << "\n" << table.str();
  }
  if (!options.sheet.empty() && look.read > 0) {
    RecipeOptions recipe;
    recipe.statistics = dataset->statistics();
    recipe.size = options.image_size;
    write_contact_sheet(options.sheet, *dataset, make_recipe(options.augment, recipe), common.seed,
                        options.sheet_rows);
    result["sheet"] = options.sheet;
    common.say() << "\nWhat the network sees (" << options.augment << "): " << options.sheet
                 << "\n";
  }
  common.result(result);
  return kSuccess;
}

int verify(const DataArguments& options, const Common& common) {
  const std::unique_ptr<Dataset> dataset = open(options, common);
  const Look look = look_at(*dataset, dataset->size(), common);
  const Json result = describe(*dataset, options, look, common);
  common.result(result);
  return result["bad"] == 0 ? kSuccess : kFailure;
}

int fetch_set(const DataArguments& options, const Common& common) {
  const DataSpec spec = parse_spec(options.spec);
  const std::vector<RemoteFile> files = remote_files(spec.kind);
  check_usage(!files.empty() && !spec.where.empty(),
              str("'", options.spec, "' cannot be fetched: give a data set and a folder for it, ",
                  "for instance cifar10:data (cifar10, cifar100 and svhn can be)"));
  for (const RemoteFile& file : files) {
    common.say() << file.name() << ": " << std::flush;
    const bool fetched = fetch(file, spec.where, common.quiet);
    common.say() << (fetched ? "fetched" : "already there") << ", checksum right\n";
  }
  const std::unique_ptr<Dataset> dataset = open(options, common);
  common.result(describe(*dataset, options,
                         look_at(*dataset, std::min<std::size_t>(1000, dataset->size()), common),
                         common));
  return kSuccess;
}

}  // namespace

int run_data(const DataArguments& arguments, const Common& common) {
  switch (arguments.action) {
    case DataArguments::Action::kVerify:
      return verify(arguments, common);
    case DataArguments::Action::kFetch:
      return fetch_set(arguments, common);
    case DataArguments::Action::kInfo:
      break;
  }
  return info(arguments, common);
}

}  // namespace cpl::cli
