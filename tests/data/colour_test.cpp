#include "cplearn/data/colour.h"

#include "tests/data/golden.h"

namespace cpl {
namespace {

TEST(Colour, EqualsTorchvision) {
  test::expect_golden(
      {"brightness", "contrast", "saturation", "hue", "gray", "solarise"},
      [](const std::string& operation, const std::vector<float>& a, const Image& in) {
        Image out = in;
        if (operation == "brightness") adjust_brightness(out, a[0]);
        if (operation == "contrast") adjust_contrast(out, a[0]);
        if (operation == "saturation") adjust_saturation(out, a[0]);
        if (operation == "hue") adjust_hue(out, a[0]);
        if (operation == "gray") to_gray(out);
        if (operation == "solarise") solarise(out, int(a[0]));
        return out;
      });
}

}  // namespace
}  // namespace cpl
