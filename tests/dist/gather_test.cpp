#include "cplearn/dist/gather.h"

#include "tests/dist/two_workers.h"

namespace cpl {
namespace {

TEST(GatherRows, OneWorkerGetsItsOwn) {
  WorkerGroup alone;
  const at::Tensor x = torch::randn({3, 4});
  EXPECT_TRUE(torch::equal(gather_rows(x, alone), x));
  EXPECT_TRUE(torch::equal(own_rows(x, 3, alone), x));
}

TEST(GatherRows, EveryWorkerGetsAllInTheOrderOfRanks) {
  test::as_two_workers([](test::ThreadGroup& group) {
    const at::Tensor x = torch::arange(6).view({3, 2}).add(100 * group.rank());
    const at::Tensor all = gather_rows(x, group);
    EXPECT_EQ(all.size(0), 6);
    EXPECT_EQ(all[0][1].item<int>(), 1);
    EXPECT_EQ(all[3][1].item<int>(), 101);
    EXPECT_TRUE(torch::equal(own_rows(all, 3, group), x));
  });
}

TEST(GatherRows, MeansOfGradientsAreThoseOfTheWholeBatch) {
  test::expect_same_for_two_workers(
      [](const at::Tensor& z0, const at::Tensor& z1, WorkerGroup& workers) {
        return (gather_rows(z0, workers).mean(0) * gather_rows(z1, workers).prod(0)).exp().sum();
      });
}

}  // namespace
}  // namespace cpl
