#include "cplearn/study/diagnosis.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <set>

#include "cplearn/study/clusters.h"
#include "cplearn/study/run_diagnosis.h"
#include "cplearn/train/trainer.h"
#include "tests/temporary_folder.h"

namespace cpl {
namespace {

const DiagnosisProgress kSilent = [](const char*, std::int64_t, std::int64_t) {};

TEST(LabelResidual, IsTheResidualOfLeastSquares) {
  torch::manual_seed(0);
  const at::Tensor z = torch::randn({90, 7}, at::kDouble);
  Labels labels;
  for (int i = 0; i < 90; ++i) labels.push_back(i % 10 == 9 ? -1 : i % 3);
  std::vector<std::int64_t> rows;
  for (int i = 0; i < 90; ++i)
    if (labels[i] >= 0) rows.push_back(i);
  const at::Tensor x = z.index_select(0, torch::tensor(rows));
  at::Tensor y = torch::zeros({81, 3}, at::kDouble);
  for (int i = 0; i < 81; ++i) y[i][labels[rows[i]]] = 1;
  const at::Tensor projection = torch::eye(81, at::kDouble) - x.matmul(torch::linalg_pinv(x));
  const double expected = projection.matmul(y).norm().item<double>() / 9;
  EXPECT_NEAR(*label_residual(z, labels), expected, 1e-9);
  // Copies of columns add nothing, the classes themselves explain everything.
  EXPECT_NEAR(*label_residual(torch::cat({z, z, z}, 1), labels), expected, 1e-9);
  EXPECT_NEAR(*label_residual(torch::cat({x, y}, 1), Labels([&] {
                                Labels known;
                                for (const auto row : rows) known.push_back(labels[row]);
                                return known;
                              }())),
              0, 1e-6);
  EXPECT_FALSE(label_residual(z, Labels(90, -1)).has_value());
}

// Without a collapse, and with each kind of it.
TEST(DiagnoseRun, AgreesWithTheTrainingsOwnVerdict) {
  const test::TemporaryFolder folder;
  std::set<std::string> verdicts;
  const char* settings[] = {"", "beta = 10\n", "method = \"vicreg\"\nvicreg-variance = 0\n",
                            "method = \"cplearn_paper\"\naugment = \"asymmetric\"\n",
                            "deviation = 0.05\n"};
  for (const std::string setting : settings) {
    const std::string run = folder.path(std::to_string(setting.size()));
    TrainOptions options = parse_run_config(setting +
                                                "data = \"shapes:448\"\nwidth = 8\ncodes = 32\n"
                                                "epochs = 8\nbatch = 32\nlr = 0.01\n",
                                            "test")
                               .train;
    Trainer trainer(run, options, SessionOptions());
    trainer.start();
    while (trainer.step()) {
    }
    const std::string verdict = trainer.finish()["verdict"];
    DiagnosisOptions how;
    how.images = 100;  // the judge looks at all of them nevertheless
    how.entropy = false;
    const RunDiagnosis found = diagnose_saved_run(run, "", how, false, kSilent);
    EXPECT_EQ(found.diagnosis.judgement.summary(), verdict) << setting;
    verdicts.insert(verdict);
  }
  EXPECT_GE(verdicts.size(), 4u);  // or the test says little
}

TEST(DiagnoseEmbeddings, DescribesPlainNumbers) {
  torch::manual_seed(1);
  const at::Tensor x = torch::randn({400, 12});
  DiagnosisOptions options;
  options.padded = true;
  const nlohmann::ordered_json found = to_json(diagnose_embeddings(x, {}, options, kSilent));
  EXPECT_EQ(found["verdict"], "healthy");
  EXPECT_EQ(found["images"], 400);
  EXPECT_TRUE(found["certificate"].is_null());
  EXPECT_TRUE(found["bound"]["label_residual"].is_null());
  EXPECT_EQ(found["bound"]["rank"], 12);
  EXPECT_EQ(found["spectra"]["embedding"]["centred"].size(), 12u);
  EXPECT_EQ(found["covariance"]["values"].size(), 12u);
  EXPECT_EQ(found["adjacency"]["values"].size(), 100u);
  EXPECT_EQ(found["entropy"]["components"].size(), 5u);
  // A standard normal has 1.42 nats per dimension; padding subtracts 5.49 per added one.
  const double nats = found["entropy"]["embedding"]["nats"][0];
  EXPECT_NEAR(nats, 12 * 0.5 * std::log(2 * M_PI * M_E), 1.5);
  EXPECT_NEAR(found["entropy"]["padded"]["nats"][0].get<double>(),
              nats + 2036 * 0.5 * std::log(2 * M_PI * M_E * 1e-6), 1e-6);
}

TEST(DescribeClusters, SortsBySizeAndNamesTheCommonestClass) {
  const at::Tensor x = torch::tensor({0.0, 0.1, 0.9, 5.0, 5.0}).unsqueeze(1);
  const auto found = describe_clusters(x, {7, 7, 7, 2, 2}, {1, 1, 0, -1, -1});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, 7);
  EXPECT_EQ(found[0].rows,
            (std::vector<std::int64_t>{1, 0, 2}));  // nearest to the mean, 1/3, first
  EXPECT_EQ(found[0].label, 1);
  EXPECT_NEAR(found[0].purity, 2.0 / 3, 1e-12);
  EXPECT_EQ(found[1].label, -1);
  EXPECT_EQ(found[1].spread, 0);
}

}  // namespace
}  // namespace cpl
