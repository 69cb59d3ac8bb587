#include "cplearn/base/config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cplearn/base/version.h"
#include "cplearn/train/run.h"
#include "tests/error_of.h"

namespace cpl {
namespace {

TEST(Config, EveryOptionSurvivesSavingAndReading) {
  RunConfig config;
  config.train.data = "folder:a \"strange\" \\ name#1";
  config.train.method_options.head.beta = 0.1 + 0.2;
  config.train.method_options.head.dictionary = DictionaryKind::kRademacher;
  config.train.lr = 1.2345678901234567e-5;
  config.train.seed = 18446744073709551615u;
  config.train.optimizer.nesterov = true;
  config.train.on_bad_image = OnBadImage::kFail;
  config.train.precision = Precision::kBf16;
  config.session.threads = 3;
  const RunConfig read = parse_run_config(run_config_text(config), "test");
  EXPECT_EQ(differences(list_options(config.train), list_options(read.train)), "");
  EXPECT_EQ(differences(list_options(config.session), list_options(read.session)), "");
  EXPECT_EQ(read.train.data, config.train.data);
  EXPECT_EQ(read.train.lr, config.train.lr);
  EXPECT_EQ(read.train.seed, config.train.seed);
}

TEST(Config, NamesAreUnique) {
  RunConfig config;
  std::map<std::string, int> seen;
  for (const OptionText& option : list_options(config.train)) ++seen[option.name];
  for (const OptionText& option : list_options(config.session)) ++seen[option.name];
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
}

TEST(Config, ErrorsSayWhatToDo) {
  const auto parse = [](const char* text) {
    return error_of([&] { parse_run_config(text, "my.toml"); });
  };
  EXPECT_NE(parse("bta = 1\n").find("did you mean 'beta'"), std::string::npos);
  EXPECT_NE(parse("\nbatch = many\n").find("line 2: 'batch = many'"), std::string::npos);
  EXPECT_NE(parse("data = my_photos\n").find("text in \"quotes\""), std::string::npos);
  EXPECT_NE(parse("batch = \"many\"\n").find("batch must be a number, got 'many'"),
            std::string::npos);
  EXPECT_NE(parse("seed = -1\n").find("between 0"), std::string::npos);
  EXPECT_NE(parse("seed = 1.5\n").find("whole"), std::string::npos);
  EXPECT_NE(parse("weight_decay = 1\nweight-decay = 2\n").find("twice"), std::string::npos);
  EXPECT_NE(parse("batch = 1\n").find("at least 2"), std::string::npos);
  EXPECT_NE(parse("batch = 64.5\n").find("whole"), std::string::npos);
  EXPECT_NE(parse("prior = \"sideways\"\n").find("reverse, forward"), std::string::npos);
  EXPECT_NE(parse("probe = 1\n").find("true or false"), std::string::npos);
  EXPECT_NE(parse("lr 3\n").find("line 1"), std::string::npos);
  EXPECT_NE(parse("[train]\n").find("tables"), std::string::npos);
  EXPECT_NE(parse("lr = 1\nlr = 2\n").find("line 2"), std::string::npos);
  EXPECT_NE(parse("data = \"shapes\n").find("quote"), std::string::npos);
}

TEST(Config, ReadsWhatPeopleWrite) {
  const RunConfig config = parse_run_config(
      "# mine\n  epochs = 1_000 # long\ndata='a#b'\nweight_decay = 1e-4\r\n\nprobe=false\nseed = "
      "1e3\n",
      "t");
  EXPECT_EQ(config.train.epochs, 1000);
  EXPECT_EQ(config.train.data, "a#b");
  EXPECT_EQ(config.train.optimizer.weight_decay, 1e-4);
  EXPECT_FALSE(config.train.probe);
  EXPECT_EQ(config.train.seed, 1000u);
}

TEST(Config, AMethodsDefaultsGiveWayToWhatPeopleWrite) {
  for (const MethodRow& row : methods()) {
    const TrainOptions options = default_options(row.name);
    EXPECT_EQ(options.method, row.name);
    for (const auto& [name, value] : parse_config(row.defaults, row.name)) {
      for (const OptionText& option : list_options(options)) {
        if (option.name != name) continue;
        EXPECT_EQ(option.value, value) << row.name << " " << name;
      }
    }
  }
  EXPECT_EQ(parse_run_config("method = \"swav\"\n", "t").train.method_options.head.codes, 3000);
  // The file is below the command line, and both are above the defaults of the method that wins.
  const RunConfig settled = settle_config(
      {{"file", {{"codes", "77"}, {"method", "dino"}}}, {"line", {{"method", "swav"}}}});
  EXPECT_EQ(settled.train.method, "swav");
  EXPECT_EQ(settled.train.method_options.head.codes, 77);
  EXPECT_EQ(settled.train.method_options.head.hidden, 2048);
  EXPECT_THROW(default_options("simclr"), Error);
}

TEST(Config, ARunOfVersion010HasOneLayerBeforeTheDictionary) {
  const auto layers = [](const char* text) {
    return parse_run_config(text, "t").train.method_options.head.projector_layers;
  };
  EXPECT_EQ(layers("method = \"cplearn\"\nactivation = \"tanh\"\n"), 1);
  EXPECT_EQ(layers("method = \"cplearn\"\n"), CodeHeadOptions().projector_layers);
  EXPECT_EQ(layers("activation = \"l2\"\nprojector-layers = 2\n"), 2);
}

TEST(Config, OwnOptionsBeginWithTheNameOfTheirMethod) {
  std::map<std::string, int> shared;
  CodeHeadOptions head;
  for (const OptionText& option : list_options(head)) ++shared[option.name];
  for (const OptionText& option : list_options(MethodOptions())) {
    if (shared.count(option.name) > 0) continue;
    bool found = false;
    for (const MethodRow& row : methods()) {
      std::string name = row.name;
      std::replace(name.begin(), name.end(), '_', '-');
      found = found || option.name.rfind(name + "-", 0) == 0;
    }
    EXPECT_TRUE(found) << option.name;
  }
}

TEST(Config, AutoTakesBf16OnlyWhereOneDnnComputesIt) {
  TrainOptions options;
  for (const char* backbone : {"resnet8", "vit_tiny"}) {
    options.backbone = backbone;
    options.precision = Precision::kAuto;
    EXPECT_TRUE(torch_has_onednn() || !resolve_bf16(options)) << backbone;
    options.precision = Precision::kBf16;
    EXPECT_TRUE(resolve_bf16(options)) << backbone;
  }
}

TEST(Config, DifferencesAreShown) {
  TrainOptions before, after;
  after.method_options.head.beta = 0.25;
  const std::string shown = differences(list_options(before), list_options(after));
  EXPECT_NE(shown.find("beta"), std::string::npos);
  EXPECT_NE(shown.find("0.25"), std::string::npos);
  EXPECT_EQ(shown.find("codes"), std::string::npos);
}

}  // namespace
}  // namespace cpl
