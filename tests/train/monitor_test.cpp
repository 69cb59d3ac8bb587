#include "cplearn/train/monitor.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "cplearn/ssl/method_options.h"
#include "cplearn/train/run.h"

namespace cpl {
namespace {

std::shared_ptr<Method> network() {
  TrainOptions options;
  options.backbone_options.width = 8;
  options.method_options.head.codes = 32;
  return make_network(options);
}

StepResult step_with(const at::Tensor& z, double entropy, double cross_entropy) {
  StepResult result;
  result.representations = z;
  result.usage = torch::full({32}, 1.0 / 32);
  result.entropy = entropy;
  result.cross_entropy = cross_entropy;
  return result;
}

TEST(Monitor, SeesTheLatestImagesAndRemembersTheFirst) {
  torch::manual_seed(1);
  const auto method = network();
  Monitor monitor(8, 32, 5000);
  EXPECT_TRUE(std::isnan(monitor.signs(*method).rank));
  EXPECT_TRUE(std::isnan(monitor.start().rank));
  for (int i = 0; i < 8; ++i) monitor.observe(step_with(torch::randn({64, 8}), 2, 3), *method);
  const double first = monitor.start().rank;
  EXPECT_GT(first, 7.5);
  const at::Tensor line = torch::randn({64, 1}).matmul(torch::randn({1, 8}));
  for (int i = 0; i < 8; ++i) monitor.observe(step_with(line, 2, 3), *method);
  const VitalSigns signs = monitor.signs(*method);
  EXPECT_NEAR(signs.rank, 1, 1e-2);
  EXPECT_EQ(monitor.start().rank, first);
  EXPECT_EQ(signs.images, 512);
  EXPECT_EQ(signs.codes, 32);
  EXPECT_NEAR(signs.information, std::log(32) - 2, 1e-6);
  EXPECT_NEAR(signs.agreement, std::log(32) - 3, 1e-6);
  EXPECT_TRUE(method->is_training());
}

TEST(Monitor, GoesOnFromACheckpointAndForgivesThoseOfVersion01) {
  torch::manual_seed(2);
  const auto method = network();
  Monitor monitor(8, 32, 300), again(8, 32, 300), old(8, 32, 300);
  for (int i = 0; i < 9; ++i) monitor.observe(step_with(torch::randn({64, 8}), 2, 3), *method);
  EXPECT_EQ(monitor.signs(*method).images, 300);  // of which some came twice
  again.load_state(module_state(monitor));
  EXPECT_EQ(again.signs(*method).rank, monitor.signs(*method).rank);
  EXPECT_EQ(again.start().rank, monitor.start().rank);
  old.load_state({{"usage", torch::zeros({32})}, {"means", torch::zeros({3})}});
  EXPECT_TRUE(std::isnan(old.start().rank));
}

}  // namespace
}  // namespace cpl
