#include "cplearn/data/normalise.h"

#include <algorithm>
#include <cmath>

namespace cpl {

const std::vector<Normalisation>& normalisations() {
  static const std::vector<Normalisation> table = {
      {"cifar10", {0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}},
      {"cifar10-paper", {0.48f, 0.48f, 0.48f}, {0.25f, 0.25f, 0.25f}},
      {"cifar100", {0.5071f, 0.4865f, 0.4409f}, {0.2673f, 0.2564f, 0.2762f}},
      {"cifar100-paper", {0.48f, 0.48f, 0.48f}, {0.27f, 0.27f, 0.27f}},
      {"svhn", {0.4377f, 0.4438f, 0.4728f}, {0.1980f, 0.2010f, 0.1970f}},
      {"svhn-paper", {0.45f, 0.45f, 0.45f}, {0.19f, 0.19f, 0.19f}},
      {"imagenet", {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
      {"shapes", {0.48f, 0.48f, 0.48f}, {0.195f, 0.195f, 0.195f}},
      {"half", {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
  };
  return table;
}

const Normalisation& find_normalisation(const std::string& name) {
  std::string candidates;
  for (const Normalisation& row : normalisations()) {
    if (row.name == name) return row;
    candidates += (candidates.empty() ? "" : ", ") + row.name;
  }
  throw Error(str("unknown normalisation '", name, "'; there are ", candidates));
}

const std::vector<float>& normal_table() {
  static const std::vector<float> table = [] {
    constexpr int kHalf = 32768;
    // Quantiles by Newton steps on P(0 < z < x) = erf(x / sqrt 2) / 2, each from its neighbour.
    const auto density = [](double x) { return 0.3989422804014327 * std::exp(-0.5 * x * x); };
    const auto below = [](double x) { return 0.5 * std::erf(x * 0.7071067811865476); };
    std::vector<double> edge(kHalf + 1);
    for (int i = 1; i < kHalf; ++i) {
      double x = edge[i - 1];
      for (int step = 0; step < 40; ++step) {
        const double move = (0.5 * i / kHalf - below(x)) / density(x);
        x += move;
        if (std::abs(move) < 1e-13) break;
      }
      edge[i] = x;
    }
    // The mean of z between two quantiles is the difference of the densities over the probability.
    std::vector<double> mean(kHalf);
    double variance = 0;
    for (int i = 0; i < kHalf; ++i) {
      const double last = i + 1 < kHalf ? density(edge[i + 1]) : 0.0;
      mean[i] = (density(edge[i]) - last) * 2 * kHalf;
      variance += mean[i] * mean[i] / kHalf;
    }
    std::vector<float> values(2 * kHalf);
    for (int i = 0; i < kHalf; ++i) {
      values[kHalf + i] = static_cast<float>(mean[i] / std::sqrt(variance));
      values[kHalf - 1 - i] = -values[kHalf + i];
    }
    return values;
  }();
  return table;
}

PixelWriter::PixelWriter(const Normalisation& normalisation) : normalisation_(normalisation) {
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < 256; ++v) {
      table_[c][v] =
          (static_cast<float>(v) / 255.0f - normalisation.mean[c]) / normalisation.std[c];
    }
  }
}

void PixelWriter::write(const Image& image, const Box& box, bool flip, float noise, Random& random,
                        Layout layout, float* out) const {
  const std::ptrdiff_t plane = std::ptrdiff_t{box.width} * box.height;
  const std::ptrdiff_t pixel_step = layout == Layout::kChannelsLast ? 3 : 1;
  const std::ptrdiff_t channel_step = layout == Layout::kChannelsLast ? 1 : plane;
  const float* normal = noise > 0 ? normal_table().data() : nullptr;
  for (int y = 0; y < box.height; ++y) {
    const std::uint8_t* in =
        image.row(box.top + y) + 3 * (flip ? box.left + box.width - 1 : box.left);
    const std::ptrdiff_t in_step = flip ? -3 : 3;
    for (int x = 0; x < box.width; ++x, in += in_step, out += pixel_step) {
      float r = table_[0][in[0]], g = table_[1][in[1]], b = table_[2][in[2]];
      if (normal) {
        const std::uint64_t bits = random.bits64();  // 16 for each colour, 16 left over
        r += noise * normal[bits & 0xFFFF];
        g += noise * normal[bits >> 16 & 0xFFFF];
        b += noise * normal[bits >> 32 & 0xFFFF];
      }
      out[0] = r;
      out[channel_step] = g;
      out[2 * channel_step] = b;
    }
  }
}

void PixelWriter::restore(const float* in, Image& image) const {
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const int c = static_cast<int>(i % 3);
    const float value = (in[i] * normalisation_.std[c] + normalisation_.mean[c]) * 255.0f;
    image.pixels[i] = static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
  }
}

}  // namespace cpl
