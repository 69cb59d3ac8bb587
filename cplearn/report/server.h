#pragma once
// The page about runs as a web server for one's own browser. It only reads, only the files of runs
// (report/run_record.h), and only those that lie in its folder; links that lead out are not
// followed.

#include <memory>
#include <string>
#include <vector>

#include "cplearn/report/run_record.h"

namespace cpl {

struct FoundRun {
  std::string name;       // its path below the folder; "." for the folder itself
  std::string stamp;      // changes when a file other than metrics.jsonl does
  std::uint64_t metrics;  // bytes of metrics.jsonl
  double changed;         // when metrics.jsonl was last written, in seconds since 1970
  bool finished;          // has a summary that is newer than metrics.jsonl
};

// Runs in `folder` and its sub-folders, in the order of their names; none that is a link to
// elsewhere or holds one.
std::vector<FoundRun> find_runs(const std::string& folder);

// Whether a page under this name can only be ours. A foreign site that gets its own name to lead
// to this machine (DNS rebinding) is told by that name.
bool is_local_name(const std::string& host_header);

class RunServer {
 public:
  // Throws cpl::Error if the folder is missing or the port is taken. Port 0: any free one.
  RunServer(const std::string& folder, const std::string& host, int port, KnownSettings known);
  ~RunServer();

  int port() const;
  void serve();  // until stop()
  void stop();   // from another thread, once serve() has been called

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cpl
