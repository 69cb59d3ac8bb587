#pragma once
// Batches of augmented views, made ahead of time on background threads. Batch b of epoch e is a
// pure function of (data, seed, e, b): the number of threads changes nothing, and going on from a
// saved position gives what an uninterrupted run would have seen.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cplearn/data/augment.h"
#include "cplearn/data/dataset.h"

namespace cpl {

// What a picture that cannot be read does.
enum class OnBadImage {
  kFail,     // stops with its name
  kReplace,  // the next good one of the data set stands in: training batches stay full
  kDrop,     // the batch is one smaller: every row of an evaluation stays one picture
};

struct LoaderOptions {
  int batch = 64;
  int epochs = 1;  // next() ends after that many
  std::uint64_t seed = 0;
  bool shuffle = true;    // false: in the order of the data set
  bool drop_last = true;  // leave out the last batch of an epoch if it is not full
  OnBadImage on_bad_image = OnBadImage::kReplace;
  Layout layout = Layout::kChannelsLast;
  int threads = 1;
  int prefetch = 4;  // batches that may wait, finished or in the making
};

// One pass in order over everything, the last batch as it comes.
LoaderOptions evaluation_pass(int batch, int threads);

// The views of one size.
struct ViewGroup {
  int size = 0;
  int views = 0;
  std::vector<float> pixels;  // [views][n][size][size][3], or [views][n][3][size][size]
};

struct Batch {
  std::uint32_t epoch = 0;
  std::size_t number = 0;             // within the epoch
  bool last = false;                  // of its epoch
  std::vector<ViewGroup> groups;      // in the order in which sizes first occur among the views
  std::vector<std::uint32_t> images;  // [n], indices into the data set
  std::vector<std::int64_t> labels;   // [n], -1 where not known

  std::size_t size() const { return images.size(); }
};

class Loader {
 public:
  // `dataset` must outlive the loader.
  Loader(const Dataset& dataset, const AugmentOptions& augment, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  std::size_t batches_per_epoch() const { return per_epoch_; }

  // The next call of next() gives this batch. Threads start with the first next(), so that seeking
  // before it wastes nothing.
  void seek(std::uint32_t epoch, std::size_t number);

  // Exchanges `batch` for the next one (its memory is used again); false after the last. What went
  // wrong on a background thread is thrown here.
  bool next(Batch& batch);

 private:
  struct Made {
    Batch batch;
    std::exception_ptr error;
  };

  void work();
  void make(std::uint64_t ticket, Augmenter& augmenter, Image& image, Batch& batch);
  bool load(std::uint32_t& index, Image& image) const;
  std::shared_ptr<const std::vector<std::uint32_t>> order(std::uint32_t epoch);

  const Dataset& dataset_;
  const AugmentOptions augment_;
  const LoaderOptions options_;
  std::size_t per_epoch_ = 0;

  std::mutex order_mutex_;
  std::map<std::uint32_t, std::shared_ptr<const std::vector<std::uint32_t>>> orders_;

  // A ticket is epoch * batches_per_epoch + number.
  std::mutex mutex_;
  std::condition_variable work_wanted_, batch_ready_;
  std::uint64_t generation_ = 0;  // grows with each seek; older work is thrown away
  std::uint64_t next_made_ = 0;
  std::uint64_t next_given_ = 0;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, Made> made_;
  std::vector<Batch> spare_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cpl
