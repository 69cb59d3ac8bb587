#include "cplearn/data/download.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cplearn/base/process.h"
#include "cplearn/data/data_kind.h"
#include "tests/data/helpers.h"

namespace cpl {
namespace {

class DownloadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("inside.txt", std::string("hello"));
    ASSERT_EQ(run_program({"tar", "-czf", folder_.path("set.tar.gz"), "-C", folder_.path(""),
                           "inside.txt"}),
              0);
    std::string sum;
    ASSERT_EQ(run_program({"md5sum", folder_.path("set.tar.gz")}, &sum), 0);
    file_ = {"file://" + std::filesystem::absolute(folder_.path("set.tar.gz")).string(),
             sum.substr(0, 32)};
  }

  bool here(const std::string& name) { return std::filesystem::exists(target_ + "/" + name); }

  test::TemporaryFolder folder_;
  std::string target_ = folder_.path("new/target");
  RemoteFile file_;
};

TEST_F(DownloadTest, FetchesOnceAndUnpacks) {
  EXPECT_TRUE(fetch(file_, target_, true));
  EXPECT_TRUE(here("inside.txt"));
  EXPECT_FALSE(here("set.tar.gz.part"));
  EXPECT_FALSE(fetch(file_, target_, true));
}

TEST_F(DownloadTest, GoesOnWhereItWasCutOff) {
  fetch(file_, target_, true);
  const std::string path = target_ + "/set.tar.gz";
  std::filesystem::rename(path, path + ".part");
  std::filesystem::resize_file(path + ".part", 20);
  EXPECT_TRUE(fetch(file_, target_, true));
  EXPECT_TRUE(here("set.tar.gz"));
}

TEST_F(DownloadTest, KeepsNothingWithAWrongChecksum) {
  file_.md5 = std::string(32, '0');
  test::expect_error([&] { fetch(file_, target_, true); }, {"checksum", "try again"});
  EXPECT_FALSE(here("set.tar.gz") || here("set.tar.gz.part") || here("inside.txt"));
}

TEST_F(DownloadTest, LeavesAnotherFileOfTheSameNameAlone) {
  std::filesystem::create_directories(target_);
  std::ofstream(target_ + "/set.tar.gz") << "mine";
  test::expect_error([&] { fetch(file_, target_, true); }, {"here already", "move it away"});
  EXPECT_EQ(std::filesystem::file_size(target_ + "/set.tar.gz"), 4u);
}

TEST_F(DownloadTest, TwoAtOnceFetchOnce) {
  bool fetched[2] = {};
  std::thread other([&] { fetched[1] = fetch(file_, target_, true); });
  fetched[0] = fetch(file_, target_, true);
  other.join();
  EXPECT_NE(fetched[0], fetched[1]);
  EXPECT_TRUE(here("inside.txt"));
}

TEST_F(DownloadTest, SaysWhatToDoWhenThereIsNoSuchFile) {
  file_.url += ".missing";
  test::expect_error([&] { fetch(file_, target_, true); }, {"could not be fetched", "yourself"});
}

TEST(RemoteFiles, AreOfKnownDataSets) {
  for (const char* name : {"cifar10", "cifar100", "svhn"}) {
    EXPECT_NE(find_data_kind(name), nullptr);
    EXPECT_FALSE(remote_files(name).empty());
    for (const RemoteFile& file : remote_files(name)) EXPECT_EQ(file.md5.size(), 32u);
  }
  EXPECT_TRUE(remote_files("shapes").empty());
}

}  // namespace
}  // namespace cpl
