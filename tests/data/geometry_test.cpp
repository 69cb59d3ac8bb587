#include "cplearn/data/geometry.h"

#include "tests/data/golden.h"
#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(Geometry, EqualsTorchvision) {
  test::expect_golden(
      {"pad", "flip", "bilinear", "bicubic", "centre", "shorter"},
      [](const std::string& operation, const std::vector<float>& a, const Image& in) {
        Image out = in;
        Resizer resizer;
        if (operation == "pad") pad_reflect(in, int(a[0]), out);
        if (operation == "flip") flip_horizontal(out);
        if (operation == "centre") crop(in, centre_box(int(a[0]), in.width, in.height), out);
        if (operation == "shorter") {
          const Size size = shorter_side_to(int(a[0]), in.width, in.height);
          const Box all{0, 0, in.width, in.height};
          resizer.resize(in, all, size.width, size.height, Filter::kBicubic, out);
        }
        if (operation == "bilinear" || operation == "bicubic") {
          const Filter filter = operation == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
          const Box box{int(a[0]), int(a[1]), int(a[2]), int(a[3])};
          resizer.resize(in, box, int(a[4]), int(a[4]), filter, out);
        }
        return out;
      });
}

TEST(Geometry, ResizerCanBeReused) {
  Resizer used, fresh;
  Image first, second, expected;
  used.resize(test::picture(90, 40), {0, 0, 90, 40}, 8, 8, Filter::kBicubic, first);
  used.resize(test::picture(9, 14, 1), {0, 0, 9, 14}, 32, 30, Filter::kBilinear, second);
  fresh.resize(test::picture(9, 14, 1), {0, 0, 9, 14}, 32, 30, Filter::kBilinear, expected);
  EXPECT_EQ(second.pixels, expected.pixels);
}

TEST(Geometry, PadNeedsAPictureLargerThanTheBorder) {
  Image out;
  test::expect_error([&] { pad_reflect(test::picture(4, 9), 4, out); }, {"4 x 9", "smaller"});
}

}  // namespace
}  // namespace cpl
