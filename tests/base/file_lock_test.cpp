#include "cplearn/base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cplearn/base/error.h"

namespace cpl {
namespace {

TEST(FileLock, OneHolderAtATimeAndFreeAfterADeath) {
  const std::string path = testing::TempDir() + "cplearn-lock-" + std::to_string(::getpid());
  {
    const FileLock first(path, FileLock::When::kTry);
    EXPECT_TRUE(first.held());
    const FileLock second(path, FileLock::When::kTry);
    EXPECT_FALSE(second.held());
    EXPECT_NE(FileLock::holder(path).find(std::to_string(::getpid())), std::string::npos);
  }
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(path, FileLock::When::kTry);
    const char word = lock.held() ? 'y' : 'n';
    if (::write(ready[1], &word, 1) == 1) ::pause();
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  EXPECT_FALSE(FileLock(path, FileLock::When::kTry).held());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock(path, FileLock::When::kWait).held());
  ::unlink(path.c_str());
  EXPECT_THROW(FileLock("/nowhere/at/all/lock", FileLock::When::kTry), Error);
}

}  // namespace
}  // namespace cpl
