// cplearn ui: the page about runs in a browser, while they train.

#include <csignal>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "cli/runs.h"
#include "cplearn/report/server.h"

namespace cpl::cli {
namespace {

struct UiArguments {
  std::string runs = "runs";
  std::string host = "127.0.0.1";
  int port = 8080;
};

int run_ui(const UiArguments& o, const Common& common) {
  // Blocked before any thread begins, so that all inherit it: then the signals wait for sigwait.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  RunServer server(o.runs, o.host, o.port, train_settings);
  const bool v6 = o.host.find(':') != std::string::npos;
  const std::string address =
      str("http://", v6 ? "[" + o.host + "]" : o.host, ":", server.port(), "/");
  common.say() << "Runs in " << o.runs << ": open " << address << " in a browser; Ctrl-C ends it."
               << std::endl;
  common.result({{"address", address}, {"port", server.port()}});
  std::thread serving([&server] { server.serve(); });
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  serving.join();
  return kSuccess;
}

}  // namespace

Run declare_ui(CLI::App& app) {
  auto options = std::make_shared<UiArguments>();
  app.add_option("runs", options->runs, "the folder in which runs are kept")->capture_default_str();
  AddOptions add(app);
  add("port", options->port, "0 takes a free one", Between{0, 65535});
  add("host", options->host,
      "address to listen on; with another than this default, others in the network see the runs");
  return [options](const Common& common) { return run_ui(*options, common); };
}

}  // namespace cpl::cli
