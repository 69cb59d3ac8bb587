#pragma once
// Where pictures come from: a folder, a file format, a generator. Sources only read; Dataset adds
// subsets, the cache and the list of bad files.

#include <cstddef>
#include <string>
#include <vector>

#include "cplearn/data/image.h"

namespace cpl {

class Source {
 public:
  virtual ~Source() = default;

  virtual std::size_t size() const = 0;
  // A file path, or for instance "cifar10/train/00012".
  virtual std::string name(std::size_t index) const = 0;
  // An index into classes(), or -1 when it is not known.
  virtual int label(std::size_t index) const = 0;
  // Thread-safe. Throws BadImage.
  virtual void read(std::size_t index, Image& image) const = 0;
  // False when reading is as cheap as copying.
  virtual bool worth_caching() const { return true; }

  const std::vector<std::string>& classes() const { return classes_; }
  // The name of the normalisation that fits, see normalise.h.
  const std::string& statistics() const { return statistics_; }

 protected:
  Source(std::vector<std::string> classes, std::string statistics)
      : classes_(std::move(classes)), statistics_(std::move(statistics)) {}

  std::vector<std::string> classes_;  // empty: unlabelled
  std::string statistics_;
};

}  // namespace cpl
