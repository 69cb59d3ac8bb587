#include "cplearn/data/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cplearn/base/random.h"
#include "cplearn/data/augment.h"

namespace cpl {
namespace {

constexpr int kGap = 4;         // pixels between cells
constexpr int kSmallCell = 96;  // small views are enlarged about to this, by whole factors
const cv::Scalar kPaper(246, 246, 246);

// Puts the whole picture into the square cell at (x, y), centred: enlarged by whole pixels, or
// reduced with antialiasing.
void paste(const Image& image, int cell, int x, int y, cv::Mat& sheet) {
  const cv::Mat rgb(image.height, image.width, CV_8UC3,
                    const_cast<std::uint8_t*>(image.pixels.data()));
  const int longer = std::max(image.width, image.height);
  const double ratio = static_cast<double>(cell) / longer;
  const double scale = ratio >= 1 ? std::floor(ratio) : ratio;
  const cv::Size size(std::max(1, static_cast<int>(image.width * scale)),
                      std::max(1, static_cast<int>(image.height * scale)));
  cv::Mat fitted;
  cv::resize(rgb, fitted, size, 0, 0, scale >= 1 ? cv::INTER_NEAREST : cv::INTER_AREA);
  fitted.copyTo(sheet(cv::Rect(x + (cell - size.width) / 2, y + (cell - size.height) / 2,
                               size.width, size.height)));
}

void save_png(const std::string& path, const cv::Mat& rgb) {
  cv::Mat bgr;
  cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
  std::vector<std::uint8_t> bytes;
  CPL_CHECK(cv::imencode(".png", bgr, bytes), "the contact sheet cannot be encoded as PNG");
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  const bool good = out && std::rename(part.c_str(), path.c_str()) == 0;
  if (!good) std::remove(part.c_str());
  CPL_CHECK(good, "the contact sheet '", path,
            "' cannot be written: is the folder there and writable, and the disk not full?");
}

}  // namespace

void write_contact_sheet(const std::string& path, const Dataset& dataset,
                         const AugmentOptions& augment, std::uint64_t seed, int images) {
  Augmenter augmenter(augment, seed, Layout::kChannelsLast);
  const int views = static_cast<int>(augment.views.size());
  int cell = 1;
  for (const ViewOptions& view : augment.views) cell = std::max(cell, view.size);
  cell *= std::max(1, (kSmallCell + cell / 2) / cell);

  const int rows = static_cast<int>(std::min<std::size_t>(dataset.size(), std::size_t(images)));
  const int step = cell + kGap;
  cv::Mat sheet(rows * step + kGap, (1 + views) * step + 2 * kGap, CV_8UC3, kPaper);
  Image image, seen;
  std::vector<float> floats;
  int row = 0;
  for (int i = 0; i < rows; ++i) {
    // One image out of each of `rows` equal parts of the set: evenly spaced ones may all be of one
    // class.
    const std::size_t begin = dataset.size() * std::size_t(i) / std::size_t(rows);
    const std::size_t end = dataset.size() * std::size_t(i + 1) / std::size_t(rows);
    Random random(seed, Stream::kShuffle, std::uint64_t(i));
    const std::size_t index = begin + random.below(static_cast<std::uint32_t>(end - begin));
    try {
      dataset.load(index, image);
    } catch (const BadImage&) {
      continue;
    }
    const int y = kGap + row++ * step;
    paste(image, cell, kGap, y, sheet);
    for (int view = 0; view < views; ++view) {
      const int size = augment.views[std::size_t(view)].size;
      floats.resize(std::size_t(size) * size * 3);
      augmenter.make(image, index, 0, view, floats.data());
      seen.resize(size, size);
      augmenter.writer().restore(floats.data(), seen);
      paste(seen, cell, 2 * kGap + (1 + view) * step, y, sheet);
    }
  }
  CPL_CHECK(row > 0, "none of the ", rows, " pictures tried for the contact sheet can be read");
  save_png(path, sheet(cv::Rect(0, 0, sheet.cols, row * step + kGap)));
}

}  // namespace cpl
