#include "cplearn/train/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "cplearn/base/file.h"

namespace cpl {
namespace {

std::string temporary(const std::string& name) {
  const std::string path =
      testing::TempDir() + "cplearn-test-" + std::to_string(::getpid()) + "-" + name;
  std::filesystem::remove_all(path);
  return path;
}

TEST(Metrics, ResumingDropsLaterLinesAndTornOnes) {
  const std::string path = temporary("metrics.jsonl");
  {
    MetricsFile file(path, 0);
    for (int step : {10, 20, 30}) file.append({{"step", step}, {"loss", 1.5}});
  }
  std::ofstream(path, std::ios::app) << "{\"step\":40,\"lo";
  MetricsFile(path, 20).append({{"step", 21}});
  EXPECT_EQ(read_file(path),
            "{\"step\":10,\"loss\":1.5}\n{\"step\":20,\"loss\":1.5}\n{\"step\":21}\n");
}

TEST(Metrics, AveragesSurviveTheirState) {
  Averages first;
  for (double value : {1.0, 2.0, 6.0}) {
    first.add("loss", value);
    first.end_step();
  }
  Averages second;
  second.load_state(first.state());
  EXPECT_EQ(second.mean("loss"), 3);
  EXPECT_EQ(second.state(), first.state());
}

TEST(Tensorboard, ChecksumIsCastagnolis) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);  // the check value of RFC 3720
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
}

TEST(Tensorboard, RecordsAreFramed) {
  const std::string event = tensorboard_scalar(2.5, 300, "loss", 0.5f);
  const std::string record = tensorboard_record(event);
  ASSERT_EQ(record.size(), 8 + 4 + event.size() + 4);
  std::uint64_t length = 0;
  std::memcpy(&length, record.data(), 8);
  EXPECT_EQ(length, event.size());
  // wall_time = 1: 2.5; step = 2: 300; summary = 5 {value = 1 {tag = 1, simple_value = 2}}
  EXPECT_EQ(event.substr(9),
            std::string("\x10\xAC\x02\x2A\x0D\x0A\x0B\x0A\x04loss\x15\0\0\0\x3F", 18));
}

}  // namespace
}  // namespace cpl
