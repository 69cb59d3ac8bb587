#include "cplearn/train/remedy.h"

#include <gtest/gtest.h>

#include "cplearn/train/run_config.h"

namespace cpl {
namespace {

TEST(Remedy, SettingsOfTheLossGoBackToTheirDefaults) {
  TrainOptions options;
  options.method_options.head.beta = 10;
  options.method_options.head.codes = 77;  // of the network: no matter
  options.lr = 0.1;
  options.batch = 8;
  EXPECT_EQ(remedy_words(remedies(options)),
            "--beta 0.4 (now 10), --lr 0.001 (now 0.1), --batch 64 (now 8)");
  TrainOptions vicreg = default_options("vicreg");
  ASSERT_EQ(remedy_words(remedies(vicreg)), "--lr 0.0001 (now 0.001)");
  vicreg = parse_run_config("method = \"vicreg\"\nvicreg-variance = 0\n", "test").train;
  EXPECT_EQ(remedy_words(remedies(vicreg)), "--vicreg-variance 25 (now 0)");
}

// Other methods' settings do not matter, nor does the rate that suits Adam where another one is
// used.
TEST(Remedy, IsOfTheMethodAndTheOptimiserAtHand) {
  TrainOptions barlow = default_options("barlow");
  barlow.method_options.head.beta = 10;
  barlow.method_options.head.activation = Activation::kTanh;
  barlow.optimizer.name = "lars";
  barlow.lr = 0.3;
  EXPECT_EQ(remedy_words(remedies(barlow)), "--lr 0.03 (now 0.3)");
  const TrainOptions gedi = parse_run_config("method = \"gedi_nogen\"\nbeta = 9\n", "test").train;
  EXPECT_EQ(remedy_words(remedies(gedi)), "--beta 0.5 (now 9)");
  const TrainOptions own =
      parse_run_config("method = \"self_classifier\"\nself-classifier-row-temperature = 1\n",
                       "test")
          .train;
  EXPECT_EQ(remedy_words(remedies(own)), "--self-classifier-row-temperature 0.1 (now 1)");
}

TEST(Remedy, DefaultsThatCollapseAreTrainedMoreSlowly) {
  EXPECT_EQ(remedy_words(remedies(TrainOptions())), "--lr 0.0001 (now 0.001)");
}

TEST(Remedy, HeavyDecayGoesAndAdamwIsAnAdam) {
  TrainOptions options = default_options("vicreg");
  options.optimizer.name = "adamw";
  options.optimizer.weight_decay = 100;
  options.lr = 0.01;
  EXPECT_EQ(remedy_words(remedies(options)), "--lr 0.001 (now 0.01), --weight-decay 0 (now 100)");
}

TEST(Remedy, TheRateAfterNanIsAtMostTheUsualOne) {
  TrainOptions options;
  options.lr = 1e6;
  EXPECT_EQ(safe_rate(options), "0.001");
  options.lr = 1e-3;
  EXPECT_EQ(safe_rate(options), "0.0001");
}

TEST(Remedy, ThePublishedFormHasTheDefaultOne) {
  EXPECT_EQ(remedy_words(remedies(default_options("cplearn_paper"))),
            "--method cplearn (now cplearn_paper)");
  TrainOptions changed = default_options("cplearn_paper");
  changed.method_options.head.beta = 100;
  EXPECT_EQ(remedy_words(remedies(changed)),
            "--method cplearn (now cplearn_paper), --beta 0.4 (now 100)");
}

TEST(Remedy, ARunningNetworkKeepsItsMethodAndItsBatch) {
  TrainOptions options = default_options("barlow");
  options.batch = 8;
  options.lr = 0.5;
  const TrainOptions safer = with_remedies(options, remedies(options));
  EXPECT_EQ(safer.batch, 8);
  EXPECT_EQ(safer.lr, 1e-3);
  const TrainOptions paper = default_options("cplearn_paper");
  const TrainOptions slower = with_remedies(paper, remedies(paper));
  EXPECT_EQ(slower.method, "cplearn_paper");
  EXPECT_EQ(slower.lr, paper.lr / 10);
}

}  // namespace
}  // namespace cpl
