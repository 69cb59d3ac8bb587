#include "cplearn/eval/measures.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cmath>

#include "cplearn/base/error.h"
#include "cplearn/eval/spectrum.h"

namespace cpl {
namespace {

// Images at +-e_1 .. +-e_r, each with views at +-s e_1 .. +-s e_d around it: the same within
// covariance in all directions, the same between covariance in r of them.
at::Tensor crosses(std::int64_t r, std::int64_t d, double s) {
  const at::Tensor axes = at::eye(d, at::kDouble);
  const at::Tensor images = torch::cat({axes.narrow(0, 0, r), -axes.narrow(0, 0, r)});
  const at::Tensor noise = s * torch::cat({axes, -axes});
  return images.unsqueeze(1) + noise.unsqueeze(0);  // 2 r x 2 d x d
}

TEST(Measures, LidarCountsDirectionsThatTellImagesApart) {
  for (const std::int64_t r : {1, 3, 8}) EXPECT_NEAR(lidar(crosses(r, 8, 0.5)), r, 1e-4);
  // Unequal images: the eigenvalues count as they are, not their roots.
  at::Tensor views = crosses(2, 8, 1);
  const at::Tensor means = views.mean(1, true);
  views = views + means * torch::tensor({1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, at::kDouble);
  EXPECT_NEAR(lidar(views), std::exp(-0.8 * std::log(0.8) - 0.2 * std::log(0.2)), 1e-4);
  // What differs between views more than between images does not count as much.
  torch::manual_seed(1);
  const at::Tensor images = at::randn({300, 1, 2}), noise = at::randn({300, 4, 2});
  const at::Tensor uneven = torch::tensor({0.05f, 5.0f});
  EXPECT_LT(lidar(images + noise * uneven), 1.1);
  EXPECT_THROW(lidar(at::ones({5, 1, 3})), Error);
}

TEST(Measures, IntrinsicDimensionOfUniformSets) {
  torch::manual_seed(2);
  const at::Tensor directions = at::randn({3, 20});
  for (const std::int64_t dimension : {1, 2, 3}) {
    const at::Tensor x = at::rand({1500, dimension}).matmul(directions.narrow(0, 0, dimension));
    EXPECT_NEAR(intrinsic_dimension(x, 0), dimension, 0.25) << dimension;
    EXPECT_NEAR(intrinsic_dimension(7 * x + 3, 0), intrinsic_dimension(x, 0), 1e-3);
  }
  EXPECT_EQ(intrinsic_dimension(at::ones({100, 4}), 0), 0);
  const at::Tensor many = at::rand({5000, 2});  // a sample of them
  EXPECT_NEAR(intrinsic_dimension(many, 3), 2, 0.25);
  EXPECT_EQ(intrinsic_dimension(many, 3), intrinsic_dimension(many, 3));
}

TEST(Measures, SelfClusterIsOneForAPoint) {
  EXPECT_NEAR(self_cluster(at::ones({50, 8})), 1, 1e-9);
  EXPECT_NEAR(self_cluster(at::eye(6)), -1.0 / 5, 1e-6);  // further apart than at random
  torch::manual_seed(3);
  for (const auto& [n, d] : {std::pair{2000, 16}, std::pair{100, 400}})  // tall and wide
    EXPECT_NEAR(self_cluster(at::randn({n, d})), 0, 2e-3);
}

TEST(Measures, OwnViewIsFoundAmongOthers) {
  torch::manual_seed(4);
  const at::Tensor x = at::randn({200, 16});
  EXPECT_EQ(own_view_found(x, x), 1);
  EXPECT_EQ(own_view_found(x, 3 * x), 1);          // lengths do not count
  EXPECT_EQ(own_view_found(x + 100, x + 100), 1);  // nor a mean
  EXPECT_EQ(own_view_found(x, x.roll(1, 0)), 0);   // always another image's
  EXPECT_EQ(own_view_found(at::ones({200, 4}), at::ones({200, 4})), 1.0 / 200);
  const double noisy = own_view_found(x, x + 1.5 * at::randn({200, 16}));
  EXPECT_GT(noisy, 0.1);
  EXPECT_LT(noisy, 0.9);
  EXPECT_THROW(own_view_found(x, x.narrow(0, 0, 10)), Error);
}

TEST(Measures, WithinShareOfGroups) {
  torch::manual_seed(5);
  Labels groups;
  for (int i = 0; i < 200; ++i) groups.push_back(i % 10 * 7);
  const at::Tensor centres = at::randn({10, 6});
  const at::Tensor on_centres = centres.index_select(0, at::arange(200).remainder(10));
  EXPECT_LT(within_share(on_centres, groups), 1e-9);
  EXPECT_NEAR(within_share(at::randn({200, 6}), groups), 1, 0.1);
  EXPECT_EQ(within_share(at::randn({3, 6}), {1, 2, 3}), -1);
  EXPECT_EQ(within_share(at::ones({4, 6}), {1, 1, 2, 2}), 0);
  EXPECT_THROW(within_share(at::ones({5, 4}), {1, 2}), Error);
}

TEST(Measures, DeviationShareAndSumOverLargest) {
  EXPECT_EQ(deviation_share(at::ones({10, 3})), 0);
  EXPECT_EQ(deviation_share(at::zeros({10, 3})), 0);
  const at::Tensor signs = torch::tensor({{1.0, 2.0}, {-1.0, 2.0}});
  EXPECT_NEAR(deviation_share(signs), 1 / std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(spread_over_largest({4, 2, 1, 1}), 2, 1e-12);
  EXPECT_EQ(spread_over_largest({0, 0}), 0);
}

}  // namespace
}  // namespace cpl
