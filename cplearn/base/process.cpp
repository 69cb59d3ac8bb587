#include "cplearn/base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cplearn/base/error.h"

namespace cpl {

int run_program(const std::vector<std::string>& words, std::string* output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  int ends[2] = {-1, -1};  // of a pipe: to read, to write
  CPL_CHECK(output == nullptr || pipe2(ends, O_CLOEXEC) == 0, "no pipe to ", words[0], ": ",
            std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output != nullptr) posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (ends[1] >= 0) close(ends[1]);
  if (failed == 0 && output != nullptr) {
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) != 0;) {
      if (got < 0 && errno != EINTR) break;
      if (got > 0) output->append(buffer, static_cast<std::size_t>(got));
    }
  }
  if (ends[0] >= 0) close(ends[0]);
  CPL_CHECK(failed == 0, "the program '", words[0], "' cannot be run (", std::strerror(failed),
            "): is it installed and on the PATH?");
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  CPL_CHECK(ended == child, "how '", words[0], "' ended is not known: ", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cpl
