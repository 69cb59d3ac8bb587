#include "cplearn/data/recipe.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

AugmentOptions made(const std::string& name, const std::string& statistics = "cifar10") {
  RecipeOptions options;
  options.statistics = statistics;
  return make_recipe(name, options);
}

TEST(Recipe, EveryOneIsValid) {
  for (const Recipe& recipe : recipes()) {
    const AugmentOptions options = made(recipe.name);
    EXPECT_NO_THROW(check(options)) << recipe.name;
    EXPECT_GE(options.views.size(), 2u) << recipe.name;
  }
}

TEST(Recipe, NumbersOfThePaper) {
  const AugmentOptions resnet8 = made("resnet8");
  EXPECT_EQ(resnet8.normalisation.name, "cifar10-paper");
  EXPECT_FLOAT_EQ(resnet8.views[0].noise, 0.03f);
  EXPECT_FLOAT_EQ(resnet8.views[1].jitter_p, 0.1f);
  EXPECT_FLOAT_EQ(resnet8.views[0].flip_p, 0.5f);
  EXPECT_FLOAT_EQ(made("resnet8", "svhn").views[0].flip_p, 0);
  EXPECT_EQ(made("resnet8", "imagenet").normalisation.name, "imagenet");

  const AugmentOptions asymmetric = made("asymmetric");
  EXPECT_EQ(asymmetric.normalisation.name, "cifar10");
  EXPECT_FLOAT_EQ(asymmetric.views[0].solarise_p, 0);
  EXPECT_FLOAT_EQ(asymmetric.views[1].solarise_p, 0.2f);

  const AugmentOptions dino = made("dino", "imagenet");
  ASSERT_EQ(dino.views.size(), 10u);
  EXPECT_EQ(dino.views[1].size, 224);
  EXPECT_EQ(dino.views[2].size, 96);
  EXPECT_FLOAT_EQ(dino.views[0].blur_p, 1.0f);
  EXPECT_FLOAT_EQ(dino.views[1].blur_p, 0.1f);
  EXPECT_FLOAT_EQ(dino.views[2].blur_p, 0.5f);
  EXPECT_FLOAT_EQ(dino.views[1].solarise_p, 0.2f);
  EXPECT_FLOAT_EQ(dino.views[2].solarise_p, 0);
}

TEST(Recipe, SizeAndViewsCanBeChosen) {
  RecipeOptions options;
  options.size = 64;
  options.views = 3;
  options.local_views = 0;
  const AugmentOptions dino = make_recipe("dino", options);
  ASSERT_EQ(dino.views.size(), 3u);
  EXPECT_EQ(dino.views[2].size, 64);
  options.local_views = 1;
  EXPECT_EQ(make_recipe("dino", options).views[3].size, 24);
}

TEST(Recipe, DecodeSideKeepsTheDetailOfTheSmallestCrop) {
  EXPECT_EQ(decode_side(made("resnet8")), 32);
  EXPECT_EQ(decode_side(made("asymmetric")), 114);        // 32 / sqrt(0.08)
  EXPECT_EQ(decode_side(made("dino", "imagenet")), 430);  // 96 / sqrt(0.05)
  EXPECT_EQ(decode_side(evaluation_views(224, find_normalisation("half"))), 256);
}

TEST(Recipe, MistakesAreNamed) {
  test::expect_error([] { made("simclr"); }, {"'simclr'", "asymmetric", "dino"});
  AugmentOptions options = made("symmetric");
  options.views[1].hue = 0.7f;
  test::expect_error([&] { check(options); }, {"hue", "0.7", "0.5"});
}

}  // namespace
}  // namespace cpl
