#pragma once
// Decoded pictures of a set that is small enough, kept until the end.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cplearn/data/image.h"

namespace cpl {

// All or nothing, as far as can be told: stops taking pictures as soon as the mean size met so far
// says that the whole set will not fit, so that a large set streams instead of filling the budget
// with a part of it. Thread-safe without locks.
class ImageCache {
 public:
  ImageCache(std::size_t images, std::size_t budget_bytes)
      : slots_(images), budget_(budget_bytes) {}
  ~ImageCache() {
    for (auto& slot : slots_) delete slot.load();
  }

  bool find(std::size_t index, Image& image) const {
    const Image* kept = slots_[index].load(std::memory_order_acquire);
    if (kept) image = *kept;
    return kept != nullptr;
  }

  void offer(std::size_t index, const Image& image) {
    const std::size_t bytes = image.pixels.size() + sizeof(Image);
    const std::size_t met_bytes = met_bytes_ += bytes;
    const std::size_t met = ++met_;
    const double whole = static_cast<double>(met_bytes) / met * slots_.size();
    if (whole > budget_) return;
    if ((used_ += bytes) > budget_) {
      used_ -= bytes;
      return;
    }
    auto copy = std::make_unique<const Image>(image);
    const Image* expected = nullptr;
    if (slots_[index].compare_exchange_strong(expected, copy.get())) {
      static_cast<void>(copy.release());  // now the slot's
    } else {
      used_ -= bytes;
    }
  }

  std::size_t bytes() const { return used_; }

 private:
  std::vector<std::atomic<const Image*>> slots_;
  std::size_t budget_;
  std::atomic<std::size_t> used_{0}, met_{0}, met_bytes_{0};
};

}  // namespace cpl
