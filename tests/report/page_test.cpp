#include "cplearn/report/page.h"

#include <gtest/gtest.h>

#include "tests/report/files.h"

namespace cpl {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// What the page's script element with the data holds.
Json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Page, HoldsTheRunsAndEverythingItNeeds) {
  const RunFolder run;
  run.put("config.toml", "codes = 64\n").put("metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n");
  const std::string page = report_page(
      {read_run(run.path(), [](const std::string&) { return std::vector<OptionText>(); })});
  const Json data = data_of(page);
  ASSERT_EQ(data["runs"].size(), 1);
  EXPECT_EQ(data["runs"][0]["metrics"], "{\"step\":1,\"loss\":2.5}\n");
  EXPECT_TRUE(data["runs"][0]["diagnosis"].is_null());
  EXPECT_EQ(count(page, "{{"), 0);  // nothing was left to fill in, and d3 has none
  EXPECT_EQ(count(page, "<script src") + count(page, "url(http"), 0);
  EXPECT_EQ(count(page, "<link"), 1);  // the empty icon
  EXPECT_NE(page.find("d3js.org"), std::string::npos);
  EXPECT_TRUE(data_of(live_page())["live"].get<bool>());
}

TEST(Page, NothingInAFileEndsTheScript) {
  const RunFolder run;
  const std::string hostile = "</script><script>alert(1)</script><!--&\\u2028";
  run.put("config.toml", "data = \"" + hostile + "\"\n")
      .put("metrics.jsonl", "{\"step\":1,\"" + hostile + "\":1}\n")
      .put("gallery.json", Json({{"classes", {hostile}}}).dump())
      .put("summary.json", Json({{"verdict", hostile}}).dump())
      .put("eval.json", "{\"probe\": \"\xff\xfe\"}");
  const std::string empty = live_page();
  RunRecord record =
      read_run(run.path(), [](const std::string&) { return std::vector<OptionText>(); });
  record.path = hostile;
  const std::string page = report_page({record});
  EXPECT_EQ(count(page, "<script"), count(empty, "<script"));
  EXPECT_EQ(count(page, "</script"), count(empty, "</script"));
  EXPECT_EQ(count(page, "<!--"), count(empty, "<!--"));
  EXPECT_EQ(data_of(page)["runs"][0]["gallery"]["classes"][0], hostile);
  EXPECT_EQ(data_of(page)["runs"][0]["path"], hostile);
}

TEST(Page, JsonInHtmlReadsBackAsTheSame) {
  const Json value = {{"a<b>&", {1, -2.5, nullptr, true, "x\"\\</script>"}}};
  const std::string text = json_in_html(value);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(Json::parse(text), value);
}

TEST(Page, OnlyPicturesAreShown) {
  RunRecord record;
  const auto shown = [&](const std::string& address) {
    record.gallery = {{"sprite", {{"tile", 32}, {"columns", 50}, {"data", address}}}};
    return page_run(record)["gallery"].contains("sprite");
  };
  EXPECT_TRUE(shown("data:image/jpeg;base64,AA+/=="));
  EXPECT_TRUE(shown("data:image/png;base64,AAAA"));
  EXPECT_FALSE(shown("https://example.org/x.png"));
  EXPECT_FALSE(shown("data:image/svg+xml;base64,AAAA"));
  EXPECT_FALSE(shown("data:image/png;base64,AA\") } body { color: red"));
  record.gallery = {{"sprite", 7}};
  EXPECT_FALSE(page_run(record)["gallery"].contains("sprite"));
}

TEST(Page, LongCurvesAreThinnedButWordsStay) {
  RunRecord record;
  for (int i = 1; i <= 20000; ++i)
    record.metrics += i == 7777 ? "{\"step\":7777,\"advice\":[\"lower --beta\"]}\n"
                                : "{\"step\":" + std::to_string(i) + "}\n";
  const std::string kept = page_run(record)["metrics"];
  EXPECT_LE(count(kept, "\n"), 4100);
  EXPECT_GE(count(kept, "\n"), 3000);
  EXPECT_NE(kept.find("\"step\":7777"), std::string::npos);
  EXPECT_NE(kept.find("\"step\":20000}"), std::string::npos);
  EXPECT_NE(kept.find("\"step\":1}"), std::string::npos);
}

}  // namespace
}  // namespace cpl
