#include "cplearn/data/contact_sheet.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(ContactSheet, ShowsOriginalsAndViews) {
  test::TemporaryFolder folder;
  const auto data = open_dataset("shapes:30", DatasetOptions());
  RecipeOptions options;
  options.statistics = "shapes";
  const AugmentOptions none = make_recipe("none", options);
  write_contact_sheet(folder.path("sheet.png"), *data, none, 1, 5);
  const cv::Mat sheet = cv::imread(folder.path("sheet.png"));
  ASSERT_EQ(sheet.rows, 5 * 100 + 4);
  ASSERT_EQ(sheet.cols, 3 * 100 + 8);
  // Without augmentation the view is the original.
  const cv::Mat original = sheet(cv::Rect(4, 4, 96, 96)), view = sheet(cv::Rect(108, 4, 96, 96));
  EXPECT_EQ(cv::norm(original, view, cv::NORM_INF), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path("sheet.png.part")));
}

TEST(ContactSheet, AnySizeAndBadFiles) {
  test::TemporaryFolder folder;
  folder.write("in/a.png", test::encoded(test::picture(300, 40), ".png"));
  folder.write("in/b.png", std::string("text"));
  folder.write("in/c.png", test::encoded(test::picture(3, 5), ".png"));
  const auto data = open_dataset(folder.path("in"), DatasetOptions());
  RecipeOptions options;
  options.size = 64;
  options.local_views = 2;
  write_contact_sheet(folder.path("sheet.png"), *data, make_recipe("dino", options), 1, 8);
  EXPECT_EQ(cv::imread(folder.path("sheet.png")).rows, 2 * 132 + 4);
  test::expect_error(
      [&] {
        write_contact_sheet(folder.path("no/such/sheet.png"), *data, make_recipe("dino", options),
                            1, 8);
      },
      {"no/such/sheet.png", "cannot be written"});
}

}  // namespace
}  // namespace cpl
