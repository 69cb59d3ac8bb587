#include "cplearn/base/process.h"

#include <gtest/gtest.h>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(Process, ReturnsOutputAndExitCode) {
  std::string output;
  EXPECT_EQ(run_program({"printf", "%s|", "two words", "$HOME"}, &output), 0);
  EXPECT_EQ(output, "two words|$HOME|");  // no shell
  EXPECT_EQ(run_program({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}), 128 + 9);
}

TEST(Process, NamesAProgramThatIsMissing) {
  try {
    run_program({"no-such-program"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("installed"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cpl
