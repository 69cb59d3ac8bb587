#include "cplearn/report/run_record.h"

#include <gtest/gtest.h>

#include "cplearn/base/error.h"
#include "tests/report/files.h"

namespace cpl {
namespace {

// A method called swav has 3000 codes by default, others 1024.
std::vector<OptionText> known(const std::string& method) {
  return {{"data", "shapes", "images", true},
          {"method", "", "method", true},
          {"codes", method == "swav" ? "3000" : "1024", "codes", false},
          {"beta", "0.5", "weight", false},
          {"probe", "true", "a probe", false},
          {"symmetric", "false", "both", false}};
}

TEST(RunRecord, TheCommandSaysWhatDiffersFromTheMethodsOwnDefaults) {
  const RunFolder run;
  run.put("config.toml",
          "data = \"shapes\"\nmethod = \"swav\"\ncodes = 1024\nbeta = 0.5\nnew = 3\n");
  const std::string command = read_run(run.path(), known).command;
  EXPECT_NE(command.find("--codes 1024"), std::string::npos) << command;
  EXPECT_EQ(command.find("--beta"), std::string::npos) << command;
  EXPECT_EQ(command.find("--new"), std::string::npos) << command;  // `train` would refuse it
}

TEST(RunRecord, EveryFileMayBeMissing) {
  const RunFolder run;
  EXPECT_THROW(read_run(run.path(), known), Error);
  run.put("config.toml", "data = \"shapes\"\n");
  const RunRecord record = read_run(run.path() + "//", known);
  EXPECT_EQ(record.path, run.path());
  EXPECT_TRUE(record.metrics.empty() && record.problems.empty());
  for (const Json* part : {&record.summary, &record.eval, &record.diagnosis, &record.gallery})
    EXPECT_TRUE(part->is_null());
}

TEST(RunRecord, DamagedFilesAreNamed) {
  const RunFolder run;
  run.put("config.toml", "this is no setting\n")
      .put("summary.json", "{\"loss\": 1")
      .put("eval.json", "[1, 2]")
      .put("gallery.json", "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}");
  const RunRecord record = read_run(run.path(), known);
  ASSERT_EQ(record.problems.size(), 4);
  const char* names[] = {"config.toml", "summary.json", "eval.json", "gallery.json"};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NE(record.problems[i].find(names[i]), std::string::npos) << record.problems[i];
  EXPECT_NE(record.problems[3].find("nested"), std::string::npos);
}

TEST(RunRecord, TheCommandNamesWhatIsNotDefault) {
  const RunFolder run;
  run.put("config.toml",
          "codes = 64\ndata = \"my photos; rm -rf '~'\"\nbeta = 0.5\nprobe = false\n"
          "symmetric = true\nnewer = 3\n");
  const RunRecord record = read_run(run.path(), known);
  EXPECT_EQ(record.command,
            "cplearn train --data 'my photos; rm -rf '\\''~'\\''' --codes 64 "
            "--no-probe --symmetric --out " +
                run.path());
  ASSERT_EQ(record.settings.size(), 6);
  EXPECT_EQ(record.settings[0].name, "data");  // in the order of the known ones
  EXPECT_EQ(record.settings[1].standard, "1024");
  EXPECT_EQ(record.settings[5].standard, "");
}

TEST(RunRecord, CurvesComeFromWholeLines) {
  const RunFolder run;
  run.put("metrics.jsonl",
          "{\"step\":1,\"loss\":2.5,\"verdict\":\"healthy\"}\nnot json\n[1]\n{\"loss\":3}\n"
          "{\"step\":2,\"loss\":null,\"rank\":4}\n{\"step\":3,\"loss\":1.5}\n{\"step\":4,\"lo");
  const RunRecord record = read_run(run.path(), known);
  EXPECT_EQ(record.metrics.back(), '\n');
  const auto found = curves(record.metrics);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].first, "loss");
  EXPECT_EQ(found[0].second, (Curve{{1, 2.5}, {3, 1.5}}));
  EXPECT_EQ(found[1].second, (Curve{{2, 4}}));
}

}  // namespace
}  // namespace cpl
