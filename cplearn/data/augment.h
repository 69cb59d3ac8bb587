#pragma once
// Makes views of pictures. A view depends only on (seed, epoch, image, view): the same whatever the
// number of threads, and there is no generator state to save.

#include <cstdint>

#include "cplearn/base/random.h"
#include "cplearn/data/recipe.h"

namespace cpl {

// torchvision RandomResizedCrop.get_params: ten tries, then the largest centred part.
Box random_resized_box(int width, int height, const ViewOptions& view, Random& random);

// torchvision ColorJitter: brightness, contrast, saturation and hue in random order; an operation
// of strength 0 is left out.
void colour_jitter(Image& image, const ViewOptions& view, Random& random);

// Keeps its working memory: one per thread, no allocation once warm.
class Augmenter {
 public:
  Augmenter(const AugmentOptions& options, std::uint64_t seed, Layout layout);

  // Writes view number `view` of the picture with this index: size * size * 3 floats.
  void make(const Image& image, std::uint64_t index, std::uint32_t epoch, int view, float* out);

  const AugmentOptions& options() const { return options_; }
  const PixelWriter& writer() const { return writer_; }

 private:
  // Each fills work_ and returns the part of it that the view shows after its colours are changed.
  Box place(const Image& image, const ViewOptions& view, Random& random);
  // The picture with its shorter side at `side`: `image` itself or fitted_.
  const Image& fit(const Image& image, int side, Filter filter);

  AugmentOptions options_;
  std::uint64_t seed_;
  Layout layout_;
  PixelWriter writer_;
  Resizer resizer_;
  Image fitted_, work_, scratch_;
};

}  // namespace cpl
