#include "cplearn/data/loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cpl {
namespace {

constexpr std::uint32_t kEpochOrder = 0;  // `use` of shuffled()

// Gives `batch` its groups and room for n images.
void prepare(const AugmentOptions& augment, std::size_t n, Batch& batch) {
  batch.images.clear();
  batch.labels.clear();
  for (ViewGroup& group : batch.groups) group.views = 0;
  std::size_t used = 0;
  for (const ViewOptions& view : augment.views) {
    const auto begin = batch.groups.begin();
    auto group = std::find_if(begin, begin + used, [&](auto& g) { return g.size == view.size; });
    if (group == begin + used) {
      if (used == batch.groups.size()) batch.groups.emplace_back();
      group = batch.groups.begin() + used++;
      group->size = view.size;
    }
    ++group->views;
  }
  batch.groups.resize(used);
  for (ViewGroup& group : batch.groups) {
    group.pixels.resize(std::size_t(group.views) * n * group.size * group.size * 3);
  }
}

// Closes the gaps that pictures left out leave between views: from room for n to batch.size().
void compact(std::size_t n, Batch& batch) {
  if (batch.size() == n) return;
  for (ViewGroup& group : batch.groups) {
    const std::size_t values = std::size_t(group.size) * group.size * 3;
    for (int view = 1; view < group.views; ++view) {
      const auto from = group.pixels.begin() + view * n * values;
      std::copy(from, from + batch.size() * values,
                group.pixels.begin() + view * batch.size() * values);
    }
    group.pixels.resize(group.views * batch.size() * values);
  }
}

}  // namespace

LoaderOptions evaluation_pass(int batch, int threads) {
  LoaderOptions options;
  options.batch = batch;
  options.shuffle = false;
  options.drop_last = false;
  options.on_bad_image = OnBadImage::kDrop;
  options.threads = threads;
  return options;
}

Loader::Loader(const Dataset& dataset, const AugmentOptions& augment, const LoaderOptions& options)
    : dataset_(dataset), augment_(augment), options_(options) {
  check(augment);
  CPL_CHECK(options.batch >= 1, "batch must be at least 1, got ", options.batch);
  CPL_CHECK(options.threads >= 1, "loader threads must be at least 1, got ", options.threads);
  CPL_CHECK(options.prefetch >= 1, "prefetch must be at least 1, got ", options.prefetch);
  CPL_CHECK(options.epochs >= 0, "epochs must be at least 0, got ", options.epochs);
  const auto batch = std::size_t(options.batch);
  per_epoch_ = options.drop_last ? dataset.size() / batch : (dataset.size() + batch - 1) / batch;
  CPL_CHECK(per_epoch_ > 0, "the data has ", dataset.size(), " images, fewer than one batch of ",
            batch, "; use a smaller batch or more images");
  end_ = std::uint64_t{per_epoch_} * std::uint64_t(options.epochs);
}

Loader::~Loader() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  work_wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::seek(std::uint32_t epoch, std::size_t number) {
  CPL_CHECK(number < per_epoch_, "batch ", number, " of an epoch of ", per_epoch_, " batches");
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++generation_;
    next_made_ = next_given_ = std::uint64_t{epoch} * per_epoch_ + number;
    made_.clear();
  }
  work_wanted_.notify_all();
}

bool Loader::next(Batch& batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (threads_.size() < std::size_t(options_.threads)) threads_.emplace_back([this] { work(); });
  while (next_given_ < end_) {
    batch_ready_.wait(lock, [this] { return made_.count(next_given_) > 0; });
    auto node = made_.extract(next_given_++);
    work_wanted_.notify_all();
    if (node.mapped().error) std::rethrow_exception(node.mapped().error);
    std::swap(batch, node.mapped().batch);
    spare_.push_back(std::move(node.mapped().batch));
    if (batch.size() > 0) return true;  // otherwise every picture of it was left out
  }
  return false;
}

void Loader::work() {
  Augmenter augmenter(augment_, options_.seed, options_.layout);
  Image image;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_work = [this] {
    return next_made_ < end_ && next_made_ < next_given_ + std::uint64_t(options_.prefetch);
  };
  while (true) {
    work_wanted_.wait(lock, [&] { return stop_ || has_work(); });
    if (stop_) return;
    const std::uint64_t ticket = next_made_++;
    const std::uint64_t generation = generation_;
    Made made;
    if (!spare_.empty()) {
      made.batch = std::move(spare_.back());
      spare_.pop_back();
    }
    lock.unlock();
    try {
      make(ticket, augmenter, image, made.batch);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    if (generation != generation_) continue;
    made_.emplace(ticket, std::move(made));
    batch_ready_.notify_all();
  }
}

void Loader::make(std::uint64_t ticket, Augmenter& augmenter, Image& image, Batch& batch) {
  batch.epoch = static_cast<std::uint32_t>(ticket / per_epoch_);
  batch.number = static_cast<std::size_t>(ticket % per_epoch_);
  batch.last = batch.number + 1 == per_epoch_;
  const auto indices = order(batch.epoch);
  const std::size_t begin = batch.number * std::size_t(options_.batch);
  const std::size_t n = std::min(std::size_t(options_.batch), indices->size() - begin);
  prepare(augment_, n, batch);
  std::vector<int> made_views(batch.groups.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t index = (*indices)[begin + i];
    if (!load(index, image)) continue;
    const std::size_t row = batch.size();
    std::fill(made_views.begin(), made_views.end(), 0);
    for (std::size_t view = 0; view < augment_.views.size(); ++view) {
      std::size_t g = 0;
      while (batch.groups[g].size != augment_.views[view].size) ++g;
      ViewGroup& group = batch.groups[g];
      const std::size_t values = std::size_t(group.size) * group.size * 3;
      float* out = group.pixels.data() + (made_views[g]++ * n + row) * values;
      augmenter.make(image, index, batch.epoch, static_cast<int>(view), out);
    }
    batch.images.push_back(index);
    batch.labels.push_back(dataset_.label(index));
  }
  compact(n, batch);
}

// Changes `index` when another picture stands in; false when the picture is to be left out.
bool Loader::load(std::uint32_t& index, Image& image) const {
  for (std::size_t tries = 0; tries < dataset_.size(); ++tries) {
    try {
      dataset_.load(index, image);
      return true;
    } catch (const BadImage&) {
      if (options_.on_bad_image == OnBadImage::kFail) throw;
      if (options_.on_bad_image == OnBadImage::kDrop) return false;
      index = static_cast<std::uint32_t>((index + 1) % dataset_.size());
    }
  }
  const BadFile first = dataset_.bad_files().front();
  throw Error(str("none of the ", dataset_.size(), " pictures can be read; the first is ",
                  first.file, ": ", first.reason));
}

std::shared_ptr<const std::vector<std::uint32_t>> Loader::order(std::uint32_t epoch) {
  const std::lock_guard<std::mutex> lock(order_mutex_);
  auto& order = orders_[options_.shuffle ? epoch : 0];
  if (!order) {
    std::vector<std::uint32_t> indices(dataset_.size());
    std::iota(indices.begin(), indices.end(), 0u);
    if (options_.shuffle) indices = shuffled(indices.size(), options_.seed, epoch, kEpochOrder);
    order = std::make_shared<const std::vector<std::uint32_t>>(std::move(indices));
  }
  auto wanted = order;
  // Threads are at most one epoch apart (unless someone seeks, and then it is made again).
  while (orders_.size() > 2) {
    orders_.erase(orders_.begin()->first == epoch ? std::prev(orders_.end()) : orders_.begin());
  }
  return wanted;
}

}  // namespace cpl
