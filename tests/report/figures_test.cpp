#include "cplearn/report/figures.h"

#include <gtest/gtest.h>

#include "cplearn/report/line_plot.h"
#include "tests/report/files.h"

namespace cpl {
namespace {

TEST(Figures, ArePicturesWithTheirNumbers) {
  const RunFolder run, out;
  run.put("metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":1.25}\n")
      .put("diagnosis.json",
           "{\"spectra\":{\"embedding\":{\"centred\":[4,2,1],\"uncentred\":[5,0,-1]}},"
           "\"covariance\":{\"of\":2,\"values\":[[1,-0.5],[-0.5,2]]},"
           "\"adjacency\":{\"values\":[[1,2],[3]]},\"usage\":null}")
      .put("gallery.json",
           "{\"map\":{\"tsne\":[[0,1],[2,3]],\"label\":[0,-1],\"file\":[\"=a,b\",\"c\"]}}");
  const std::vector<std::string> files =
      write_figures({read_run(run.path(), {})}, out.path() + "/new");
  std::vector<std::string> names;
  for (const std::string& file : files)
    names.push_back(std::filesystem::path(file).filename().string());
  const std::vector<std::string> expected = {"curve-loss.svg",
                                             "curve-loss.csv",
                                             "spectrum-embedding.svg",
                                             "spectrum-embedding.csv",
                                             "covariance.svg",
                                             "covariance.csv",
                                             "tsne.svg",
                                             "tsne.csv"};
  EXPECT_EQ(names, expected);  // the ragged adjacency is left out
  EXPECT_EQ(read_file(out.file("new/curve-loss.csv")), "step," + run.path() + "\n1,2.5\n2,1.25\n");
  EXPECT_EQ(read_file(out.file("new/covariance.csv")), "1,-0.5\n-0.5,2\n");
  EXPECT_EQ(read_file(out.file("new/tsne.csv")),
            "x,y,label,code,file\n0,1,0,-1,\"'=a,b\"\n2,3,-1,-1,c\n");
  for (std::size_t i = 0; i < files.size(); i += 2)
    EXPECT_NE(read_file(files[i]).find("</svg>"), std::string::npos) << files[i];
}

TEST(LinePlot, PutsPointsWhereTheirNumbersAre) {
  const std::string svg = plot_svg({"a < b", "x", {{"s", {{0, 0}, {10, 1}}}}, false});
  EXPECT_NE(svg.find("points=\"70,345 625,40 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  const std::string log =
      plot_svg({"", "x", {{"s", {{1, 1}, {10, 10}, {100, 100}, {0, 5}}}}, true});
  EXPECT_NE(log.find("points=\"70,345 347.5,192.5 625,40 \""), std::string::npos) << log;
  EXPECT_NE(plot_svg({"", "x", {}, false}).find("no values"), std::string::npos);
  EXPECT_NE(plot_svg({"", "x", {{"s", {{3, 3}}}}, true}).find("<circle"), std::string::npos);
}

TEST(LinePlot, TicksAreRound) {
  EXPECT_EQ(round_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(round_ticks(3, 3, 4), (std::vector<double>{3}));
}

TEST(LinePlot, CsvKeepsFieldsTogether) {
  EXPECT_EQ(csv_field("a b"), "a b");
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(csv_field("@SUM(1)"), "'@SUM(1)");
}

}  // namespace
}  // namespace cpl
