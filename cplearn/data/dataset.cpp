#include "cplearn/data/dataset.h"

#include <numeric>

#include "cplearn/base/random.h"
#include "cplearn/data/image_cache.h"
#include "cplearn/data/open_source.h"

namespace cpl {
namespace {

constexpr std::uint32_t kSubset = 1;  // `use` of shuffled(); 0 is the order within an epoch

}  // namespace

Dataset::Dataset(std::unique_ptr<Source> source, std::vector<std::uint32_t> chosen,
                 const Alteration* alteration, std::size_t cache_bytes)
    : source_(std::move(source)), chosen_(std::move(chosen)), alteration_(alteration) {
  const bool paints = alteration_ && alteration_->paint;
  if (cache_bytes > 0 && (paints || source_->worth_caching())) {
    cache_ = std::make_unique<ImageCache>(size(), cache_bytes);
  }
}

Dataset::~Dataset() = default;

void Dataset::load(std::size_t index, Image& image) const {
  CPL_CHECK(index < size(), "image ", index, " of a data set of ", size());
  if (cache_ && cache_->find(index, image)) return;
  try {
    source_->read(at(index), image);
    if (alteration_ && alteration_->paint) alteration_->paint(at(index), image);
  } catch (const BadImage& bad) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bad_.emplace(index, BadFile{bad.file(), bad.reason()});
    throw;
  }
  if (cache_) cache_->offer(index, image);
}

std::vector<BadFile> Dataset::bad_files() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<BadFile> files;
  for (const auto& [index, file] : bad_) files.push_back(file);
  return files;
}

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t epoch,
                                    std::uint32_t use) {
  CPL_CHECK(n <= 0xFFFFFFFFu, n, " images are more than the 4,294,967,295 that can be shuffled");
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed, Stream::kShuffle, epoch, use);
  for (std::size_t i = n; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  }
  return order;
}

std::unique_ptr<Dataset> open_dataset(const std::string& text, const DatasetOptions& options) {
  const DataSpec spec = parse_spec(text);
  std::unique_ptr<Source> source = open_source(spec, options.decode);
  std::vector<std::uint32_t> chosen;
  if (spec.first > 0) {
    CPL_CHECK(spec.first <= source->size(), "data '", text, "': asks for ", spec.first,
              " images, but there are only ", source->size());
    chosen = shuffled(source->size(), options.seed, 0, kSubset);
    chosen.resize(spec.first);
    chosen.shrink_to_fit();
  }
  const Alteration* alteration = find_alteration(spec.alteration);
  if (alteration && alteration->choose) {
    if (chosen.empty()) {
      chosen.resize(source->size());
      std::iota(chosen.begin(), chosen.end(), 0u);
    }
    chosen = alteration->choose(*source, chosen);
  }
  return std::make_unique<Dataset>(std::move(source), std::move(chosen), alteration,
                                   options.cache_bytes);
}

}  // namespace cpl
