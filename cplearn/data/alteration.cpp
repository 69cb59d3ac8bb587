#include "cplearn/data/alteration.h"

#include <algorithm>
#include <cmath>

#include "cplearn/base/random.h"
#include "cplearn/data/augment.h"
#include "cplearn/data/colour.h"

namespace cpl {
namespace {

using Choice = std::vector<std::uint32_t>;

constexpr std::size_t kCopies = 16;
constexpr float kNoise = 50;  // standard deviation, of 255

template <class Keep>
Choice kept(const Choice& chosen, const Keep& keep) {
  Choice result;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(result), keep);
  return result;
}

Choice duplicated(const Source&, const Choice& chosen) {
  const std::size_t distinct = (chosen.size() + kCopies - 1) / kCopies;
  Choice result(chosen.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = chosen[i % distinct];
  return result;
}

Choice one_class(const Source& source, const Choice& chosen) {
  const int first = source.label(chosen.front());
  return kept(chosen, [&](std::uint32_t i) { return source.label(i) == first; });
}

// Each class has half as many images as the one before it. Without labels, all images stay.
Choice unbalanced(const Source& source, const Choice& chosen) {
  std::vector<std::uint32_t> seen(source.classes().size(), 0);
  return kept(chosen, [&](std::uint32_t i) {
    const int label = source.label(i);
    if (label < 0) return true;
    const auto k = static_cast<std::size_t>(label);
    return seen[k]++ % (std::uint32_t{1} << std::min<std::size_t>(k, 31)) == 0;
  });
}

void grey(std::size_t, Image& image) { to_gray(image); }

void noisy(std::size_t index, Image& image) {
  Random random(0, Stream::kAlteration, index);
  for (std::uint8_t& value : image.pixels) {
    const float changed = std::round(static_cast<float>(value) + kNoise * random.normal());
    value = static_cast<std::uint8_t>(std::clamp(changed, 0.0f, 255.0f));
  }
}

// As if somebody had stored random crops instead of pictures.
void augmented(std::size_t index, Image& image) {
  Random random(0, Stream::kAlteration, index);
  ViewOptions view;
  view.scale_min = 0.3f;
  const Box box = random_resized_box(image.width, image.height, view, random);
  Image part;
  Resizer().resize(image, box, image.width, image.height, view.filter, part);
  colour_jitter(part, view, random);
  if (random.chance(0.5f)) flip_horizontal(part);
  std::swap(image, part);
}

}  // namespace

const std::vector<Alteration>& alterations() {
  static const std::vector<Alteration> table = {
      {"grey", "no colours", nullptr, grey},
      {"noisy", "noise on every pixel, a fifth of the full range", nullptr, noisy},
      {"augmented", "a random crop of each image with changed colours", nullptr, augmented},
      {"duplicated", "a sixteenth of the images, sixteen times each", duplicated, nullptr},
      {"one-class", "images of one class alone", one_class, nullptr},
      {"unbalanced", "each class has half as many images as the one before", unbalanced, nullptr},
  };
  return table;
}

const Alteration* find_alteration(const std::string& name) {
  for (const Alteration& row : alterations())
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace cpl
