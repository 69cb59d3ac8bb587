#include "cplearn/ssl/slices.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/dist/thread_group.h"

namespace cpl {
namespace {

TEST(RandomDirections, HaveUnitLengthAndDependOnTheStepAndTheSeedOnly) {
  const at::Tensor a = random_directions(1, 7, 50, 20);
  EXPECT_EQ(a.sizes(), (std::vector<std::int64_t>{50, 20}));
  EXPECT_LE((a.norm(2, 1) - 1).abs().max().item<double>(), 1e-6);
  torch::manual_seed(3);
  const at::Tensor before = torch_random_state();
  EXPECT_TRUE(torch::equal(random_directions(1, 7, 50, 20), a));
  EXPECT_TRUE(torch::equal(torch_random_state(), before));
  EXPECT_TRUE(torch::equal(random_directions(1, 7, 30, 20), a.narrow(0, 0, 30)));
  for (const at::Tensor& other : {random_directions(1, 8, 50, 20), random_directions(2, 7, 50, 20)})
    EXPECT_LT((other * a).sum(1).abs().mean().item<double>(), 0.5);
}

TEST(RandomDirections, FavourNone) {
  const at::Tensor a = random_directions(0, 0, 20000, 4);
  EXPECT_LE(a.mean(0).abs().max().item<double>(), 0.02);
  const at::Tensor second = torch::matmul(a.t(), a) / 20000;
  EXPECT_LE((second - torch::eye(4) / 4).abs().max().item<double>(), 0.01);
}

TEST(GatherViews, HasTheRowsOfAllWorkersInEachView) {
  test::as_two_workers([](test::ThreadGroup& group) {
    const at::Tensor x = torch::arange(6).view({3, 2}).add(100 * group.rank());
    const at::Tensor z = gather_views({x, -x}, group);
    EXPECT_EQ(z.sizes(), (std::vector<std::int64_t>{2, 6, 2}));
    EXPECT_EQ(z[0][4][1].item<int>(), 103);
    EXPECT_EQ(z[1][4][1].item<int>(), -103);
  });
}

TEST(DistanceToCentre, IsToTheMeanOfFullViews) {
  const at::Tensor z = torch::tensor({1.0, 3.0, 8.0}, at::kDouble).view({3, 1, 1});
  EXPECT_NEAR(distance_to_centre(z, 2).item<double>(), (1 + 1 + 36) / 3.0, 1e-12);
  EXPECT_NEAR(distance_to_centre(z, 3).item<double>(), (9 + 1 + 16) / 3.0, 1e-12);
}

}  // namespace
}  // namespace cpl
