#include "cplearn/report/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <thread>

#include "cplearn/base/error.h"
#include "cplearn/report/http.h"
#include "cplearn/report/run_record.h"
#include "tests/report/files.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const FoundRun& run : find_runs(folder)) names.push_back(run.name);
  return names;
}

TEST(FindRuns, LooksIntoSubfoldersAndNotOut) {
  const RunFolder folder, outside;
  outside.put("secret/metrics.jsonl", "{\"step\":1}\n").put("secret.txt", "secret\n");
  folder.put("b/config.toml", "").put("a/deep/metrics.jsonl", "{\"step\":1}\n");
  folder.put("other/notes.txt", "").put("half/config.toml", "");
  fs::create_symlink(outside.path("secret"), folder.path("link"));
  fs::create_symlink(outside.path("secret.txt"), folder.path("half/summary.json"));
  fs::create_symlink(folder.path("b"), folder.path("inside"));
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"a/deep", "b", "inside"}));
  EXPECT_EQ(names_in(folder.path("b")), (std::vector<std::string>{"."}));
  EXPECT_THROW(find_runs(folder.path("nowhere")), Error);
}

TEST(IsLocalName, KnowsNumbersAndLocalhost) {
  for (const char* fine : {"localhost", "localhost:80", "LocalHost:80", "127.0.0.1:8080", "[::1]",
                           "[::1]:80", "192.0.2.7"})
    EXPECT_TRUE(is_local_name(fine)) << fine;
  for (const char* foreign :
       {"", ":80", "example.org", "localhost.example.org", "127.0.0.1.example", "[::1",
        "[example.org]", "[::1]example.org", "1.2.3", "@localhost"})
    EXPECT_FALSE(is_local_name(foreign)) << foreign;
  char own[256] = "";
  ASSERT_EQ(::gethostname(own, sizeof own - 1), 0);
  for (const auto change : {::tolower, ::toupper}) {
    std::string name = own;
    std::transform(name.begin(), name.end(), name.begin(), change);
    EXPECT_TRUE(is_local_name(name)) << name;
  }
}

TEST(RunServer, ServesRunsAndNothingElse) {
  const RunFolder folder, outside;
  outside.put("secret.txt", "secret\n");
  folder.put("mine/config.toml", "codes = 64\n").put("mine/secret.txt", "secret\n");
  folder.put("mine/metrics.jsonl", "{\"step\":1}\n{\"step\":2}\n{\"ste");
  RunServer server(folder.path(), "127.0.0.1", 0,
                   [](const std::string&) { return std::vector<OptionText>(); });
  std::thread serving([&] { server.serve(); });
  httplib::Client client("127.0.0.1", server.port());
  const auto status = [&](const std::string& path) {
    const auto answer = client.Get(path);
    return answer ? answer->status : -1;
  };

  EXPECT_NE(client.Get("/")->body.find("\"live\":true"), std::string::npos);
  const Json runs = Json::parse(client.Get("/api/runs")->body);
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0]["name"], "mine");
  EXPECT_FALSE(runs[0]["finished"].get<bool>());
  const Json run = Json::parse(client.Get("/api/run?name=mine")->body);
  EXPECT_EQ(run["path"], "mine");
  EXPECT_EQ(run["metrics"], "");  // the page follows the file

  // Whole lines from a byte on; what is half written comes later.
  EXPECT_EQ(client.Get("/api/metrics?name=mine&from=0")->body, "{\"step\":1}\n{\"step\":2}\n");
  EXPECT_EQ(client.Get("/api/metrics?name=mine&from=11")->body, "{\"step\":2}\n");
  EXPECT_EQ(client.Get("/api/metrics?name=mine&from=22")->body, "");
  EXPECT_EQ(client.Get("/api/metrics?name=mine&from=999999")->body, "");
  for (const char* from : {"", "-1", "x", "1e3", "99999999999999999999"})
    EXPECT_EQ(status(str("/api/metrics?name=mine&from=", from)), 400) << from;

  for (const char* path : {"/api/run?name=..", "/api/run?name=../mine", "/api/run?name=mine/..",
                           "/api/run?name=", "/api/run", "/mine/secret.txt", "/../secret.txt",
                           "/api/metrics?name=%2e%2e%2fmine&from=0"})
    EXPECT_EQ(status(path), 404) << path;
  // A file that becomes a link out is no longer served.
  fs::create_symlink(outside.path("secret.txt"), folder.path("mine/summary.json"));
  EXPECT_EQ(status("/api/run?name=mine"), 404);

  const auto rebound = client.Get("/api/runs", {{"Host", "example.org"}});
  EXPECT_EQ(rebound->status, 403);
  EXPECT_EQ(client.Post("/api/runs", "x", "text/plain")->status, 405);
  EXPECT_EQ(client.Delete("/api/run?name=mine")->status, 405);
  EXPECT_TRUE(client.Get("/")->get_header_value("Access-Control-Allow-Origin").empty());
  server.stop();
  serving.join();
}

// Who asks again from where an answer ended gets every byte, whatever the file holds.
TEST(RunServer, GetsPastLinesThatAreNone) {
  const std::string metrics = "\xff\xfe\n" + std::string(5 << 19, 'x') + "\n{\"step\":1}\n" +
                              "\xef\xbb\xbf\n{\"step\":2}\n";
  const RunFolder folder;
  folder.put("metrics.jsonl", metrics);
  RunServer server(folder.path(), "127.0.0.1", 0,
                   [](const std::string&) { return std::vector<OptionText>(); });
  std::thread serving([&] { server.serve(); });
  httplib::Client client("127.0.0.1", server.port());
  std::string got;
  for (int answers = 0; answers < 10 && got.size() < metrics.size(); ++answers)
    got += client.Get(str("/api/metrics?name=.&from=", got.size()))->body;
  EXPECT_TRUE(got == metrics) << got.size() << " bytes of " << metrics.size();
  server.stop();
  serving.join();
}

TEST(RunServer, SaysWhatIsWrong) {
  const RunFolder folder;
  EXPECT_THROW(RunServer(folder.path("nowhere"), "127.0.0.1", 0,
                         [](const std::string&) { return std::vector<OptionText>(); }),
               Error);
  RunServer first(folder.path(), "127.0.0.1", 0,
                  [](const std::string&) { return std::vector<OptionText>(); });
  EXPECT_THROW(RunServer(folder.path(), "203.0.113.1", 0, {}), Error);
}

}  // namespace
}  // namespace cpl
