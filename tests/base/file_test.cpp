#include "cplearn/base/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "cplearn/base/error.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  long entries() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  test::TemporaryFolder folder_;
};

TEST_F(FileTest, WritesReplacesAndLeavesNothingBeside) {
  write_file(path("a"), "first");
  write_file(path("a"), {"sec", "", "ond"});
  EXPECT_EQ(read_file(path("a")), "second");
  write_file(path("empty"), "");
  EXPECT_EQ(read_file(path("empty")), "");
  EXPECT_EQ(entries(), 2);
}

TEST_F(FileTest, TakesOverWhatAKilledWriterLeft) {
  write_file(path("a.tmp"), "a long rest of a killed process");
  write_file(path("a"), "new");
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_EQ(entries(), 1);
}

TEST_F(FileTest, TwoWritersAreKeptApart) {
  FILE* other = std::fopen(path("a.tmp").c_str(), "w");
  ASSERT_EQ(flock(fileno(other), LOCK_EX), 0);
  EXPECT_NE(error_of([&] { write_file(path("a"), "x"); }).find("another process"),
            std::string::npos);
  std::fclose(other);
}

TEST_F(FileTest, FollowsLinksAndWritesDevicesDirectly) {
  write_file(path("a"), "old");
  fs::create_symlink("a", path("link"));
  write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("a")), "new");
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, AFullDiskIsNamed) {
  const std::string message = error_of([] { write_file("/dev/full", "x"); });
  EXPECT_NE(message.find("/dev/full"), std::string::npos) << message;
  EXPECT_NE(message.find("the disk is full"), std::string::npos) << message;
}

TEST_F(FileTest, AWriteThatStopsHalfWayKeepsTheOldFile) {
  write_file(path("a"), "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string message = error_of([&] { write_file(path("a"), std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_NE(message.find(path("a")), std::string::npos) << message;
  EXPECT_NE(message.find("ulimit"), std::string::npos) << message;
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(FileTest, ImpossiblePathsSayWhatToDo) {
  write_file(path("file"), "x");
  EXPECT_NE(error_of([&] { write_file(path("file/in"), "x"); }).find("not a folder"),
            std::string::npos);
  EXPECT_NE(error_of([&] { write_file(path("none/in"), "x"); }).find("has to exist"),
            std::string::npos);
  EXPECT_NE(error_of([&] { write_file(folder_.path(), "x"); }).find("folder"), std::string::npos);
  EXPECT_NE(error_of([&] { read_file(path("none")); }).find("spelling"), std::string::npos);
  EXPECT_NE(error_of([&] { read_file(folder_.path()); }).find("folder"), std::string::npos);
}

TEST_F(FileTest, ReadingStopsAtTheLimit) {
  write_file(path("a"), std::string(100, 'x'));
  EXPECT_EQ(read_file(path("a"), 100).size(), 100u);
  EXPECT_NE(error_of([&] { read_file(path("a"), 99); }).find("at most 99"), std::string::npos);
  // No size to look up beforehand, and endless.
  EXPECT_NE(error_of([] { read_file("/dev/zero", 10000); }).find("at most"), std::string::npos);
}

TEST(Checksum, EqualsTheReferenceValues) {
  EXPECT_EQ(checksum_text(""), "ef46db3751d8e999");
  EXPECT_EQ(checksum_text("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(checksum_text("abc"), "44bc2cf5ad770999");
  EXPECT_EQ(checksum_text("Nobody inspects the spammish repetition"), "fbcea83c8a378bf1");
}

}  // namespace
}  // namespace cpl
