#include "cplearn/data/folder.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

class Folder : public ::testing::Test {
 protected:
  void add(const std::string& file) { folder_.write(file, jpeg_); }
  FolderSource open(const std::string& below = "") {
    return FolderSource(folder_.path(below), {}, DecodeOptions());
  }
  test::TemporaryFolder folder_;
  const std::vector<std::uint8_t> jpeg_ = test::encoded(test::picture(12, 10), ".jpg");
};

TEST_F(Folder, SubfoldersAreClassesAndNamesAreSorted) {
  for (const char* file :
       {"dog/b.jpg", "cat/10.jpg", "cat/2.jpg", "cat/deep/er/3.jpg", "dog/a.PNG"}) {
    add(file);
  }
  folder_.write("cat/notes.txt", std::string("hello"));
  folder_.write("cat/.hidden.jpg", std::string("x"));
  std::filesystem::create_directory(folder_.path("empty"));
  const FolderSource source = open();
  ASSERT_EQ(source.size(), 5u);
  EXPECT_EQ(source.classes(), (std::vector<std::string>{"cat", "dog"}));
  const char* expected[] = {"cat/10.jpg", "cat/2.jpg", "cat/deep/er/3.jpg", "dog/a.PNG",
                            "dog/b.jpg"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(source.name(i), folder_.path(expected[i]));
    EXPECT_EQ(source.label(i), i < 3 ? 0 : 1);
    Image image;
    source.read(i, image);  // also a JPEG that is called .PNG
    EXPECT_EQ(image.width, 12);
  }
  EXPECT_EQ(open("cat/").name(0), folder_.path("cat/10.jpg"));
}

TEST_F(Folder, FlatFoldersAreUnlabelled) {
  add("b.jpg");
  add("a.jpg");
  const FolderSource source = open();
  EXPECT_TRUE(source.classes().empty());
  EXPECT_EQ(source.label(0), -1);
}

TEST_F(Folder, PicturesBesideClassesHaveNoLabel) {
  add("m.jpg");
  add("cat/a.jpg");
  const FolderSource source = open();
  EXPECT_EQ(source.classes().size(), 1u);
  EXPECT_EQ(source.label(0), 0);
  EXPECT_EQ(source.label(1), -1);
}

TEST_F(Folder, LinksAreFollowedButNotInCircles) {
  add("cat/a.jpg");
  std::filesystem::create_directory_symlink(folder_.path(), folder_.path("cat/up"));
  std::filesystem::create_directory_symlink(folder_.path("cat"), folder_.path("tiger"));
  std::filesystem::create_symlink(folder_.path("cat/a.jpg"), folder_.path("cat/b.jpg"));
  const FolderSource source = open();
  EXPECT_EQ(source.size(), 4u);  // a and b, once in cat and once in tiger
  EXPECT_EQ(source.classes().size(), 2u);
}

TEST_F(Folder, MissingAndEmptyAreNamed) {
  test::expect_error([&] { open("nowhere"); }, {"no folder", "nowhere"});
  add("a.jpg");
  test::expect_error([&] { open("a.jpg"); }, {"a.jpg", "is a file"});
  std::filesystem::create_directories(folder_.path("empty/sub"));
  test::expect_error([&] { open("empty"); }, {"no pictures", "empty", ".jpg", "no files"});
  folder_.write("text/readme.md", std::string("x"));
  test::expect_error([&] { open("text"); }, {"no pictures", "1 other files", "readme.md"});
}

TEST_F(Folder, SplitFolders) {
  const std::string root = folder_.path();
  add("train/cat/a.jpg");
  EXPECT_EQ(split_folder(root, ""), root);
  EXPECT_EQ(split_folder(root, "train"), root + "/train");
  test::expect_error([&] { split_folder(root, "test"); }, {"test or val", "train"});
  add("val/cat/a.jpg");
  EXPECT_EQ(split_folder(root, ""), root + "/train");
  EXPECT_EQ(split_folder(root, "test"), root + "/val");
  add("test/cat/a.jpg");
  EXPECT_EQ(split_folder(root, "test"), root + "/test");
  test::expect_error([&] { split_folder(folder_.path("val"), "train"); }, {"cat", "@train"});
}

}  // namespace
}  // namespace cpl
