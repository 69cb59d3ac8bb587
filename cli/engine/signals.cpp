#include "cli/engine/signals.h"

#include <signal.h>
#include <unistd.h>

namespace cpl::cli {
namespace {

volatile sig_atomic_t signal_received = 0;

void on_signal(int signal) {
  if (signal_received) ::_exit(128 + signal);
  signal_received = signal;
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return signal_received != 0; }

}  // namespace cpl::cli
