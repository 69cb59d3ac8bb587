#pragma once
// A set of labelled or unlabelled pictures, by index. Everything is const and thread-safe.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cplearn/data/alteration.h"
#include "cplearn/data/decode.h"
#include "cplearn/data/source.h"

namespace cpl {

class ImageCache;

struct DatasetOptions {
  std::uint64_t seed = 0;  // of the choice of "#N"
  DecodeOptions decode;
  // Sets that fit decoded are kept in memory; larger ones are read anew each time. 0: never kept.
  std::size_t cache_bytes = std::size_t{128} << 20;
};

struct BadFile {
  std::string file;
  std::string reason;
};

class Dataset {
 public:
  // `chosen`: which images of the source, in which order; empty for all. `alteration`: whose pixels
  // to paint over, or null.
  Dataset(std::unique_ptr<Source> source, std::vector<std::uint32_t> chosen,
          const Alteration* alteration, std::size_t cache_bytes);
  ~Dataset();

  std::size_t size() const { return chosen_.empty() ? source_->size() : chosen_.size(); }
  bool labelled() const { return !classes().empty(); }
  const std::vector<std::string>& classes() const { return source_->classes(); }
  const std::string& statistics() const { return source_->statistics(); }
  int label(std::size_t index) const { return source_->label(at(index)); }  // -1: not known
  std::string name(std::size_t index) const { return source_->name(at(index)); }

  // Throws BadImage, which is also remembered. `image` may be reused to save allocations.
  void load(std::size_t index, Image& image) const;

  // The bad ones met so far, in the order of their index.
  std::vector<BadFile> bad_files() const;

 private:
  std::size_t at(std::size_t index) const { return chosen_.empty() ? index : chosen_[index]; }

  std::unique_ptr<Source> source_;
  std::vector<std::uint32_t> chosen_;
  const Alteration* alteration_;
  std::unique_ptr<ImageCache> cache_;  // null: nothing is kept
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, BadFile> bad_;
};

// A permutation of 0 .. n-1 that depends only on its arguments.
std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t epoch,
                                    std::uint32_t use);

std::unique_ptr<Dataset> open_dataset(const std::string& spec, const DatasetOptions& options);

}  // namespace cpl
