#include "cplearn/train/data_defaults.h"

#include <gtest/gtest.h>

#include "cplearn/train/run_config.h"

namespace cpl {
namespace {

TrainOptions suited(int side, std::int64_t images, const std::set<std::string>& written = {},
                    TrainOptions options = default_options("cplearn")) {
  suit_data({images, side}, written, options);
  return options;
}

TEST(DataDefaults, ThumbnailsKeepTheirPixelsAndPhotographsAreNotMadeThumbnails) {
  EXPECT_EQ(resolve_image_size(suited(32, 50000)), 32);
  EXPECT_EQ(resolve_image_size(suited(28, 50000)), 32);
  EXPECT_EQ(resolve_image_size(suited(64, 10000)), 48);
  EXPECT_GE(resolve_image_size(suited(375, 200)), 64);
}

TEST(DataDefaults, ALargeNetworkIsNotTakenForMinutesOfTraining) {
  EXPECT_EQ(suited(32, 50000).backbone, "resnet8");
  EXPECT_EQ(suited(375, 10000).backbone, "resnet8");
}

TEST(DataDefaults, PhotographsAreCropped) {
  EXPECT_EQ(resolve_recipe(suited(375, 10000)), "asymmetric");
  EXPECT_EQ(resolve_recipe(suited(32, 10000)), "resnet8");
}

TEST(DataDefaults, CodesFollowTheNumberOfImages) {
  EXPECT_EQ(suited(64, 10).method_options.head.codes, 64);
  EXPECT_EQ(suited(64, 2000).method_options.head.codes, 512);
  EXPECT_EQ(suited(64, 1000000).method_options.head.codes, 4096);
}

TEST(DataDefaults, ATransformerIsNotTrainedAsAConvolution) {
  TrainOptions options = default_options("cplearn");
  options.backbone = "vit_tiny";
  const TrainOptions found = suited(64, 10000, {"backbone"}, options);
  EXPECT_EQ(found.optimizer.name, "adamw");
  EXPECT_LT(found.lr, 1e-3);
  EXPECT_EQ(found.backbone_options.patch_size, 6);
}

TEST(DataDefaults, WhatPeopleWriteCountsMore) {
  TrainOptions options = default_options("cplearn");
  options.augment.image_size = 48;
  options.backbone = "resnet8";
  options.method_options.head.codes = 7;
  const TrainOptions found = suited(375, 200, {"image-size", "backbone", "codes"}, options);
  EXPECT_EQ(found.augment.image_size, 48);
  EXPECT_EQ(found.backbone, "resnet8");
  EXPECT_EQ(found.method_options.head.codes, 7);
}

TEST(DataDefaults, LooksAtTheImagesThemselves) {
  const auto data = open_dataset("shapes:100", {});
  const DataLook look = look_at(*data);
  EXPECT_EQ(look.images, 100);
  EXPECT_EQ(look.side, 32);
}

TEST(DataDefaults, EpochsFillTheTime) {
  EXPECT_EQ(epochs_in(20, 100, 10000), 12);
  EXPECT_EQ(epochs_in(1, 1, 10000), 1);
}

}  // namespace
}  // namespace cpl
