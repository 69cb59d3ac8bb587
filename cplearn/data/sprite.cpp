#include "cplearn/data/sprite.h"

#include <algorithm>
#include <cstring>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cplearn/data/geometry.h"

namespace cpl {

Sprite make_sprite(const Dataset& data, const std::vector<std::uint32_t>& images, int tile) {
  constexpr int kQuality = 85;
  Sprite sprite;
  sprite.tile = tile;
  const int rows =
      std::max(1, (static_cast<int>(images.size()) + sprite.columns - 1) / sprite.columns);
  cv::Mat sheet(rows * tile, sprite.columns * tile, CV_8UC3, cv::Scalar(200, 200, 200));
  Resizer resizer;
  Image image, small;
  for (std::size_t i = 0; i < images.size(); ++i) {
    try {
      data.load(images[i], image);
    } catch (const BadImage&) {
      continue;
    }
    const int side = std::min(image.width, image.height);
    const Box box = centre_box(side, image.width, image.height);
    resizer.resize(image, box, tile, tile, Filter::kBilinear, small);
    const int x = static_cast<int>(i) % sprite.columns * tile;
    const int y = static_cast<int>(i) / sprite.columns * tile;
    for (int r = 0; r < tile; ++r)
      std::memcpy(sheet.ptr(y + r) + 3 * x, small.row(r), std::size_t(tile) * 3);
  }
  cv::Mat bgr;
  cv::cvtColor(sheet, bgr, cv::COLOR_RGB2BGR);
  CPL_CHECK(cv::imencode(".jpg", bgr, sprite.jpeg, {cv::IMWRITE_JPEG_QUALITY, kQuality}),
            "the sheet of small pictures cannot be encoded as JPEG");
  return sprite;
}

}  // namespace cpl
