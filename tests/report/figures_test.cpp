#include "cplearn/report/figures.h"

#include <gtest/gtest.h>

#include "cplearn/base/file.h"
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
  const std::vector<std::string> files = write_figures(
      {read_run(run.path(), [](const std::string&) { return std::vector<OptionText>(); })},
      out.path() + "/new");
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
  EXPECT_EQ(read_file(out.path("new/curve-loss.csv")),
            str("chart,series,x,y,deviation\nloss,", run.path(), ",1,2.5,\nloss,", run.path(),
                ",2,1.25,\n"));
  EXPECT_EQ(read_file(out.path("new/covariance.csv")), "1,-0.5\n-0.5,2\n");
  EXPECT_EQ(read_file(out.path("new/tsne.csv")),
            "x,y,label,code,file\n0,1,0,-1,\"=a,b\"\n2,3,-1,-1,c\n");
  for (std::size_t i = 0; i < files.size(); i += 2)
    EXPECT_NE(read_file(files[i]).find("</svg>"), std::string::npos) << files[i];
}

}  // namespace
}  // namespace cpl
