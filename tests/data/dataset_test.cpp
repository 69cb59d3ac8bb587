#include "cplearn/data/dataset.h"

#include <algorithm>
#include <set>
#include <thread>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(Dataset, OpensShapes) {
  const auto data = open_dataset("shapes:40@test", DatasetOptions());
  EXPECT_EQ(data->size(), 40u);
  EXPECT_TRUE(data->labelled());
  EXPECT_EQ(data->statistics(), "shapes");
  Image first, again;
  data->load(3, first);
  data->load(3, again);  // from the cache
  EXPECT_EQ(first.pixels, again.pixels);
  test::expect_error([&] { data->load(40, first); }, {"image 40", "40"});
}

TEST(Dataset, SubsetIsASeededChoice) {
  DatasetOptions options;
  const auto all = open_dataset("shapes:100", options);
  const auto some = open_dataset("shapes:100#30", options);
  const auto same = open_dataset("shapes:100#30", options);
  options.seed = 1;
  const auto other = open_dataset("shapes:100#30", options);
  ASSERT_EQ(some->size(), 30u);
  std::set<std::string> names;
  int equal = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    names.insert(some->name(i));
    EXPECT_EQ(some->name(i), same->name(i));
    equal += some->name(i) == other->name(i);
    const std::size_t original = std::stoul(some->name(i).substr(some->name(i).size() - 5));
    Image a, b;
    some->load(i, a);
    all->load(original, b);
    EXPECT_EQ(a.pixels, b.pixels);
    EXPECT_EQ(some->label(i), all->label(original));
  }
  EXPECT_EQ(names.size(), 30u);
  EXPECT_LT(equal, 10);
  test::expect_error([] { open_dataset("shapes:100#101", DatasetOptions()); },
                     {"shapes:100#101", "only 100"});
}

TEST(Dataset, BadFilesAreRememberedOnceFromAnyThread) {
  test::TemporaryFolder folder;
  folder.write("a.jpg", std::string("text"));
  folder.write("b.jpg", test::encoded(test::picture(9, 9), ".jpg"));
  folder.write("c.jpg", std::string());
  for (const std::size_t cache : {std::size_t{0}, std::size_t{1} << 20}) {
    DatasetOptions options;
    options.cache_bytes = cache;
    const auto data = open_dataset(folder.path(), options);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        Image image;
        for (int repeat = 0; repeat < 20; ++repeat) {
          for (const std::size_t i : {2u, 0u}) EXPECT_THROW(data->load(i, image), BadImage);
          data->load(1, image);
          EXPECT_EQ(image.width, 9);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<BadFile> bad = data->bad_files();
    ASSERT_EQ(bad.size(), 2u);
    EXPECT_EQ(bad[0].file, folder.path("a.jpg"));
    EXPECT_EQ(bad[1].file, folder.path("c.jpg"));
    EXPECT_EQ(bad[1].reason, "is empty (0 bytes)");
  }
}

TEST(Dataset, ShuffledIsAPermutation) {
  auto order = shuffled(1000, 5, 2, 0);
  EXPECT_EQ(order, shuffled(1000, 5, 2, 0));
  EXPECT_NE(order, shuffled(1000, 5, 3, 0));
  EXPECT_NE(order, shuffled(1000, 6, 2, 0));
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace cpl
