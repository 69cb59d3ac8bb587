#include "cplearn/ssl/dino.h"

#include "cplearn/nn/state.h"
#include "cplearn/ssl/method_options.h"
#include "cplearn/ssl/probabilities.h"
#include "tests/dist/thread_group.h"
#include "tests/ssl/golden.h"

namespace cpl {
namespace {

at::Tensor some_centre() { return torch::arange(6, at::kDouble).cos(); }

TEST(Dino, LossAndGradientAreThePapers) {
  std::vector<at::Tensor> scores, targets;
  for (const double phase : {0.1, 1.9, 3.3}) scores.push_back(test::sines(8, 6, phase));
  for (const double phase : {0.4, 2.2})
    targets.push_back(dino_targets(test::sines(8, 6, phase).detach(), some_centre(), 0.5));
  test::expect_golden_loss("dino", prediction_loss(targets, scores, 0.1), scores);
}

TEST(Dino, TheCentreIsThatOfAllWorkers) {
  const at::Tensor scores = torch::cat({test::sines(8, 6, 0.4), test::sines(8, 6, 2.2)}).detach();
  WorkerGroup alone;
  test::expect_golden(dino_centre(some_centre(), scores, 0.9, alone),
                      test::methods_golden()["dino_centre"]);
  test::as_two_workers([&](test::ThreadGroup& group) {
    const at::Tensor half = scores.narrow(0, 8 * group.rank(), 8);
    test::expect_golden(dino_centre(some_centre(), half, 0.9, group),
                        test::methods_golden()["dino_centre"]);
  });
}

std::shared_ptr<Method> small_dino(const std::string& backbone, double momentum) {
  MethodOptions options;
  options.head.codes = 20;
  options.head.hidden = 16;
  options.own<DinoOptions>().momentum = momentum;
  BackboneOptions network;
  network.width = 8;
  network.image_size = 16;
  network.patch_size = 8;
  network.drop_path = 0.5;
  return make_method(
      "dino", [&] { return make_backbone(backbone, network); }, options);
}

TEST(Dino, TheTeacherBeginsAsTheStudentAndFollowsIt) {
  torch::manual_seed(1);
  const auto dino = small_dino("resnet8", 0.75);
  const at::Tensor before = dino->student().parameters()[0].detach().clone();
  EXPECT_TRUE(torch::equal(dino->backbone().parameters()[0], before));
  {
    const torch::NoGradGuard no_grad;
    dino->student().parameters()[0].add_(1);
  }
  dino->after_update({0, 10, 0, 1});
  EXPECT_LE((dino->backbone().parameters()[0] - before - 0.25).abs().max().item<double>(), 1e-6);
  EXPECT_FALSE(dino->backbone().parameters()[0].requires_grad());
}

TEST(Dino, TheTeacherDropsNothingInTraining) {
  torch::manual_seed(1);
  const auto dino = small_dino("vit_tiny", 0.9);
  dino->train();
  const at::Tensor images = torch::randn({4, 3, 16, 16});
  EXPECT_TRUE(torch::equal(dino->backbone().forward(images), dino->backbone().forward(images)));
  EXPECT_FALSE(torch::equal(dino->student().forward(images), dino->student().forward(images)));
}

}  // namespace
}  // namespace cpl
