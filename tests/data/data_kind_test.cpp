#include "cplearn/data/data_kind.h"

#include "cplearn/data/open_source.h"

#include <set>

#include "cplearn/data/normalise.h"
#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(DataKind, RowsAreCompleteAndDistinct) {
  std::set<std::string> names;
  for (const DataKind& kind : data_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second);
    EXPECT_FALSE(kind.usage.empty());
    EXPECT_FALSE(kind.help.empty());
    EXPECT_FALSE(kind.splits.empty());
    EXPECT_EQ(find_data_kind(kind.name), &kind);
  }
  EXPECT_EQ(find_data_kind("mnist"), nullptr);
}

TEST(DataKind, MissingFoldersAreNamed) {
  for (const DataKind& kind : data_kinds()) {
    if (kind.name == "shapes") continue;
    const DataSpec spec = parse_spec(kind.name + ":/no/such/place");
    test::expect_error([&] { open_source(spec, DecodeOptions()); }, {"/no/such/place"});
  }
}

TEST(DataKind, ImageNetTakesTheListedClassesInTheirOrder) {
  test::TemporaryFolder folder;
  const auto jpeg = test::encoded(test::picture(12, 10), ".jpg");
  for (const char* file : {"train/n03/a.JPEG", "train/n01/b.JPEG", "train/n02/c.JPEG",
                           "val/n01/d.JPEG", "val/n03/e.JPEG"}) {
    folder.write(file, jpeg);
  }
  folder.write("listed_classes.txt", "# two of them\nn03 hen\n\nn01\n");
  const std::string spec = "imagenet100:" + folder.path();
  const auto open = [](const std::string& text) {
    return open_source(parse_spec(text), DecodeOptions());
  };
  EXPECT_EQ(open(spec)->classes(), (std::vector<std::string>{"n01", "n02", "n03"}));
  const auto listed = open(spec + ",listed_classes.txt@train");  // found beside the data
  EXPECT_EQ(listed->classes(), (std::vector<std::string>{"n03", "n01"}));
  EXPECT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->name(0), folder.path("train/n03/a.JPEG"));
  EXPECT_EQ(open(spec + "," + folder.path("listed_classes.txt") + "@test")->size(), 2u);

  folder.write("wrong.txt", "n09\n");
  test::expect_error([&] { open(spec + ",wrong.txt"); }, {"n09", "list of classes"});
  test::expect_error([&] { open(spec + ",nothing.txt"); }, {"nothing.txt", "cannot be opened"});
  folder.write("flat/val/x.JPEG", jpeg);
  test::expect_error([&] { open("imagenet100:" + folder.path("flat") + "@test"); },
                     {"no sub-folders", "flat/val"});
}

}  // namespace
}  // namespace cpl
