#include "cplearn/report/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "cplearn/report/http.h"
#include "cplearn/report/page.h"

namespace cpl {
namespace fs = std::filesystem;
namespace {

constexpr int kDeepestFolder = 4;                     // folders below the one that is served
constexpr std::size_t kMostRuns = 1000;               // listed
constexpr std::uint64_t kMostAnswerBytes = 1u << 20;  // of metrics in one answer

// Whether `path`, with its links followed, lies in `root` (which has none).
bool lies_in(const fs::path& path, const fs::path& root) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

double seconds(const struct stat& status) {  // of the last change, since 1970
  return static_cast<double>(status.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

// The run in this directory, if there is one that may be shown.
bool look_at(const fs::path& directory, const fs::path& root, FoundRun& run) {
  bool any = false;
  run = {};
  for (const std::string& name : record_files()) {
    const fs::path file = directory / name;
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) continue;
    if (!lies_in(file, root) || ::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      return false;
    any = any || name == "config.toml" || name == "metrics.jsonl";
    if (name == "metrics.jsonl") {
      run.metrics = static_cast<std::uint64_t>(status.st_size);
      run.changed = seconds(status);
    } else {
      run.stamp += str(name, ":", status.st_size, ":", status.st_mtim.tv_sec, ".",
                       status.st_mtim.tv_nsec, ";");
    }
    if (name == "summary.json") run.finished = seconds(status) >= run.changed;
  }
  const fs::path below = directory.lexically_relative(root);
  run.name = below.generic_string();
  return any;
}

void search(const fs::path& directory, const fs::path& root, int depth,
            std::vector<FoundRun>& runs) {
  FoundRun run;
  if (look_at(directory, root, run)) runs.push_back(run);
  if (depth == kDeepestFolder) return;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (runs.size() >= kMostRuns) return;
    std::error_code ignored;
    if (it->is_directory(ignored) && lies_in(it->path(), root))
      search(it->path(), root, depth + 1, runs);
  }
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Whole lines of a file from a byte on, as many as fit an answer. A line that does not fit is sent
// in pieces, which no reader takes for lines of metrics: it would otherwise be asked for without
// end.
std::string lines_from(const fs::path& path, std::uint64_t from) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  std::string text(kMostAnswerBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  const std::size_t lines = text.rfind('\n') + 1;
  if (lines > 0 || text.size() < kMostAnswerBytes) text.resize(lines);
  return text;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::vector<FoundRun> find_runs(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  CPL_CHECK(!error && fs::is_directory(root), "there is no folder ", folder,
            ": give the one in which 'cplearn train' keeps its runs");
  std::vector<FoundRun> runs;
  search(root, root, 0, runs);
  std::sort(runs.begin(), runs.end(),
            [](const FoundRun& a, const FoundRun& b) { return a.name < b.name; });
  return runs;
}

bool is_local_name(const std::string& host_header) {
  std::string name = lower_case(host_header);
  if (!name.empty() && name[0] == '[') {  // [::1]:8080
    const auto close = name.find(']');
    return close != std::string::npos && (close + 1 == name.size() || name[close + 1] == ':') &&
           name.find_first_not_of("0123456789abcdef:.", 1) == close;
  }
  name = name.substr(0, name.find(':'));
  if (name == "localhost") return true;
  char own[256] = "";
  if (::gethostname(own, sizeof own - 1) == 0 && !name.empty() && name == lower_case(own))
    return true;
  // Numbers are no name that anybody could have led here.
  return std::count(name.begin(), name.end(), '.') == 3 &&
         name.find_first_not_of("0123456789.") == std::string::npos;
}

struct RunServer::Impl {
  std::string folder;
  KnownSettings known;
  std::atomic<bool> ended{false};  // listening failed, or is over
  httplib::Server server;
  int port = 0;

  // The run that was asked for, out of those that are there: a name is looked up and never made
  // into a path.
  bool find(const httplib::Request& request, httplib::Response& response, FoundRun& found) const {
    const std::string name = request.get_param_value("name");
    for (const FoundRun& run : find_runs(folder)) {
      if (run.name != name) continue;
      found = run;
      return true;
    }
    response.status = 404;
    response.set_content("there is no such run\n", "text/plain");
    return false;
  }

  void answer_runs(httplib::Response& response) const {
    Json list = Json::array();
    for (const FoundRun& run : find_runs(folder))
      list.push_back({{"name", run.name},
                      {"stamp", run.stamp},
                      {"metrics", run.metrics},
                      {"changed", run.changed},
                      {"finished", run.finished}});
    response.set_content(dumped(list), "application/json");
  }

  void answer_run(const httplib::Request& request, httplib::Response& response) const {
    FoundRun found;
    if (!find(request, response, found)) return;
    Json run = page_run(read_run_but_metrics(folder + "/" + found.name, known));
    run["path"] = found.name;  // short in the page; `word` and `command` keep the whole path
    response.set_content(dumped(run), "application/json");
  }

  void answer_metrics(const httplib::Request& request, httplib::Response& response) const {
    FoundRun found;
    if (!find(request, response, found)) return;
    const std::string from = request.get_param_value("from");
    if (from.empty() || from.size() > 15 ||
        from.find_first_not_of("0123456789") != std::string::npos) {
      response.status = 400;
      response.set_content("from must be a number of bytes\n", "text/plain");
      return;
    }
    response.set_content(
        lines_from(fs::path(folder) / found.name / "metrics.jsonl", std::stoull(from)),
        "text/plain; charset=utf-8");
  }

  void answer() {
    server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler(
        [](const httplib::Request& request, httplib::Response& response) {
          const bool reads = request.method == "GET" || request.method == "HEAD";
          if (reads && is_local_name(request.get_header_value("Host")))
            return httplib::Server::HandlerResponse::Unhandled;
          response.status = reads ? 403 : 405;
          response.set_content(reads ? "this server answers to localhost and numbers only\n"
                                     : "this server only reads\n",
                               "text/plain");
          return httplib::Server::HandlerResponse::Handled;
        });
    server.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
          response.status = 500;
          try {
            std::rethrow_exception(thrown);
          } catch (const std::exception& error) {
            response.set_content(str(error.what(), "\n"), "text/plain");
          }
        });
    const std::string page = live_page();
    server.Get("/", [page](const httplib::Request&, httplib::Response& response) {
      response.set_content(page, "text/html; charset=utf-8");
    });
    server.Get("/api/runs", [this](const httplib::Request&, httplib::Response& response) {
      answer_runs(response);
    });
    server.Get("/api/run", [this](const httplib::Request& request, httplib::Response& response) {
      answer_run(request, response);
    });
    server.Get("/api/metrics",
               [this](const httplib::Request& request, httplib::Response& response) {
                 answer_metrics(request, response);
               });
  }
};

RunServer::RunServer(const std::string& folder, const std::string& host, int port,
                     KnownSettings known)
    : impl_(std::make_unique<Impl>()) {
  impl_->folder = folder;
  while (impl_->folder.size() > 1 && impl_->folder.back() == '/') impl_->folder.pop_back();
  impl_->known = std::move(known);
  find_runs(folder);  // says if there is no folder
  impl_->answer();
  impl_->server.set_keep_alive_timeout(1);  // a stop waits for it
  impl_->server.new_task_queue = [] { return new httplib::ThreadPool(4); };
  impl_->port = port == 0                                ? impl_->server.bind_to_any_port(host)
                : impl_->server.bind_to_port(host, port) ? port
                                                         : -1;
  CPL_CHECK(impl_->port > 0, "cannot listen on ", host, " port ", port,
            ": another program may use it; --port 0 takes a free one");
}

RunServer::~RunServer() = default;
int RunServer::port() const { return impl_->port; }
void RunServer::serve() {
  impl_->server.listen_after_bind();
  impl_->ended = true;
}
void RunServer::stop() {
  // httplib forgets a stop that comes before it has begun.
  while (!impl_->server.is_running() && !impl_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  impl_->server.stop();
}

}  // namespace cpl
