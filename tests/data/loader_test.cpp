#include "cplearn/data/loader.h"

#include <algorithm>
#include <set>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

AugmentOptions recipe(const std::string& name) {
  RecipeOptions options;
  options.statistics = "shapes";
  options.size = 32;
  options.local_views = 3;
  return make_recipe(name, options);
}

std::vector<Batch> all_batches(Loader& loader) {
  std::vector<Batch> batches;
  for (Batch batch; loader.next(batch);) batches.push_back(batch);
  return batches;
}

void expect_equal(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.images, b.images);
  EXPECT_EQ(a.labels, b.labels);
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t g = 0; g < a.groups.size(); ++g)
    EXPECT_EQ(a.groups[g].pixels, b.groups[g].pixels);
}

TEST(Loader, ThreadsChangeNothing) {
  const auto data = open_dataset("shapes:70", DatasetOptions());
  LoaderOptions options;
  options.batch = 16;
  options.epochs = 3;
  Loader one(*data, recipe("dino"), options);
  const std::vector<Batch> expected = all_batches(one);
  ASSERT_EQ(expected.size(), 12u);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    options.prefetch = threads;
    Loader several(*data, recipe("dino"), options);
    const std::vector<Batch> got = all_batches(several);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) expect_equal(expected[i], got[i]);
  }
}

TEST(Loader, BatchesHaveTheStatedShape) {
  const auto data = open_dataset("shapes:20", DatasetOptions());
  LoaderOptions options;
  options.batch = 8;
  const AugmentOptions augment = recipe("dino");
  Loader loader(*data, augment, options);
  EXPECT_EQ(loader.batches_per_epoch(), 2u);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  ASSERT_EQ(batch.groups.size(), 2u);
  EXPECT_EQ(batch.groups[0].size, 32);
  EXPECT_EQ(batch.groups[0].views, 2);
  EXPECT_EQ(batch.groups[1].size, 16);
  EXPECT_EQ(batch.groups[1].views, 3);
  EXPECT_EQ(batch.groups[1].pixels.size(), 3u * 8 * 16 * 16 * 3);
  EXPECT_FALSE(batch.last);
  // View 1 of row 5 stands where it should.
  Augmenter augmenter(augment, options.seed, options.layout);
  Image image;
  data->load(batch.images[5], image);
  std::vector<float> view(3072);
  augmenter.make(image, batch.images[5], 0, 1, view.data());
  EXPECT_TRUE(
      std::equal(view.begin(), view.end(), batch.groups[0].pixels.begin() + (1 * 8 + 5) * 3072));
  EXPECT_EQ(batch.labels[5], data->label(batch.images[5]));
  ASSERT_TRUE(loader.next(batch));
  EXPECT_TRUE(batch.last);
  EXPECT_FALSE(loader.next(batch));
}

TEST(Loader, EpochsAreDifferentOrdersOfEverything) {
  const auto data = open_dataset("shapes:60", DatasetOptions());
  LoaderOptions options;
  options.batch = 60;
  options.epochs = 2;
  Loader loader(*data, recipe("resnet8"), options);
  const auto epochs = all_batches(loader);
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_NE(epochs[0].images, epochs[1].images);
  for (const Batch& epoch : epochs) {
    EXPECT_EQ(std::set<std::uint32_t>(epoch.images.begin(), epoch.images.end()).size(), 60u);
  }
}

TEST(Loader, SeekContinuesExactly) {
  const auto data = open_dataset("shapes:50", DatasetOptions());
  LoaderOptions options;
  options.batch = 10;
  options.epochs = 4;
  options.threads = 2;
  Loader whole(*data, recipe("symmetric"), options);
  const std::vector<Batch> expected = all_batches(whole);
  for (const std::size_t from : {0u, 7u, 19u}) {
    Loader resumed(*data, recipe("symmetric"), options);
    resumed.seek(std::uint32_t(from / 5), from % 5);
    for (std::size_t i = from; i < expected.size(); ++i) {
      Batch batch;
      ASSERT_TRUE(resumed.next(batch));
      expect_equal(expected[i], batch);
    }
    resumed.seek(0, 3);  // and back, while threads are idle or busy
    Batch batch;
    ASSERT_TRUE(resumed.next(batch));
    expect_equal(expected[3], batch);
    resumed.seek(1, 0);
    ASSERT_TRUE(resumed.next(batch));
    expect_equal(expected[5], batch);
  }
}

class LoaderOnBadFiles : public ::testing::Test {
 protected:
  LoaderOnBadFiles() {
    for (int i = 0; i < 12; ++i) {
      const std::string name = str("p", i / 10, i % 10, ".png");
      const bool bad = i == 3 || i == 4 || i == 11;
      if (bad) {
        folder_.write(name, std::string("not a picture"));
      } else {
        folder_.write(name, test::encoded(test::picture(20, 18, std::uint64_t(i)), ".png"));
      }
    }
    data_ = open_dataset(folder_.path(), DatasetOptions());
  }
  test::TemporaryFolder folder_;
  std::unique_ptr<Dataset> data_;
};

TEST_F(LoaderOnBadFiles, ReplacedByTheNextGoodOneForAnyNumberOfThreads) {
  std::vector<Batch> expected;
  for (const int threads : {1, 3}) {
    LoaderOptions options;
    options.batch = 4;
    options.epochs = 5;
    options.threads = threads;
    Loader loader(*data_, recipe("symmetric"), options);
    const auto got = all_batches(loader);
    ASSERT_EQ(got.size(), 15u);
    if (expected.empty()) expected = got;
    for (std::size_t i = 0; i < got.size(); ++i) expect_equal(expected[i], got[i]);
    std::multiset<std::uint32_t> epoch;
    for (int b = 0; b < 3; ++b)
      epoch.insert(got[std::size_t(b)].images.begin(), got[std::size_t(b)].images.end());
    EXPECT_EQ(epoch.count(5), 3u);  // for itself, 3 and 4
    EXPECT_EQ(epoch.count(0), 2u);  // for itself and 11
    EXPECT_EQ(epoch.count(4), 0u);
  }
  EXPECT_EQ(data_->bad_files().size(), 3u);
}

TEST_F(LoaderOnBadFiles, DroppedInEvaluation) {
  const AugmentOptions augment = evaluation_views(16, find_normalisation("half"));
  Loader loader(*data_, augment, evaluation_pass(5, 2));
  EXPECT_EQ(loader.batches_per_epoch(), 3u);
  std::vector<std::uint32_t> images;
  for (Batch batch; loader.next(batch);) {
    EXPECT_EQ(batch.groups[0].pixels.size(), batch.size() * 16 * 16 * 3);
    images.insert(images.end(), batch.images.begin(), batch.images.end());
  }
  EXPECT_EQ(images, (std::vector<std::uint32_t>{0, 1, 2, 5, 6, 7, 8, 9, 10}));
}

TEST_F(LoaderOnBadFiles, DroppingKeepsSeveralViewsContiguous) {
  LoaderOptions options = evaluation_pass(12, 1);
  Loader with_gaps(*data_, recipe("symmetric"), options);
  Batch batch;
  ASSERT_TRUE(with_gaps.next(batch));
  ASSERT_EQ(batch.size(), 9u);
  ASSERT_EQ(batch.groups[0].pixels.size(), 2u * 9 * 3072);
  Augmenter augmenter(recipe("symmetric"), 0, Layout::kChannelsLast);
  Image image;
  std::vector<float> view(3072);
  data_->load(10, image);
  augmenter.make(image, 10, 0, 1, view.data());
  EXPECT_TRUE(std::equal(view.begin(), view.end(), batch.groups[0].pixels.end() - 3072));
}

TEST_F(LoaderOnBadFiles, FailureReachesTheConsumerWithTheName) {
  LoaderOptions options = evaluation_pass(4, 2);
  options.on_bad_image = OnBadImage::kFail;
  Loader loader(*data_, recipe("none"), options);
  Batch batch;
  test::expect_error([&] { loader.next(batch); }, {"p03.png", "not a JPEG"});
}

TEST(Loader, NothingReadableIsAnError) {
  test::TemporaryFolder folder;
  folder.write("a.jpg", std::string("x"));
  folder.write("b.jpg", std::string("x"));
  const auto data = open_dataset(folder.path(), DatasetOptions());
  LoaderOptions options;
  options.batch = 2;
  Loader loader(*data, recipe("resnet8"), options);
  Batch batch;
  test::expect_error([&] { loader.next(batch); }, {"none of the 2", "a.jpg"});
}

TEST(Loader, PartialBatchesAndTooSmallSets) {
  const auto data = open_dataset("shapes:10", DatasetOptions());
  LoaderOptions options;
  options.batch = 4;
  options.drop_last = false;
  Loader loader(*data, recipe("resnet8"), options);
  const auto batches = all_batches(loader);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].size(), 2u);
  EXPECT_EQ(batches[2].groups[0].pixels.size(), 2u * 2 * 3072);
  options.drop_last = true;
  options.batch = 11;
  test::expect_error([&] { Loader(*data, recipe("resnet8"), options); },
                     {"10 images", "batch of 11"});
}

TEST(Loader, CanBeLeftAtAnyMoment) {
  const auto data = open_dataset("shapes:64", DatasetOptions());
  LoaderOptions options;
  options.batch = 8;
  options.epochs = 100;
  options.threads = 3;
  for (int taken = 0; taken < 6; ++taken) {
    Loader loader(*data, recipe("resnet8"), options);
    Batch batch;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader.next(batch));
  }
}

}  // namespace
}  // namespace cpl
