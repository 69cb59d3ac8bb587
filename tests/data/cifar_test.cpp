#include "cplearn/data/cifar.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

// An official file: `records` of them, mostly a hole in the file, with the first two filled in.
void write_batch(const test::TemporaryFolder& folder, const std::string& file, int label_bytes,
                 int records) {
  const std::size_t record = std::size_t(label_bytes) + 3072;
  std::vector<std::uint8_t> start(2 * record);
  start[std::size_t(label_bytes) - 1] = 3;
  start[std::size_t(label_bytes) + 0] = 11;          // red of the first pixel
  start[std::size_t(label_bytes) + 1] = 12;          // red of the second
  start[std::size_t(label_bytes) + 1024] = 21;       // green of the first
  start[std::size_t(label_bytes) + 2048 + 32] = 31;  // blue, second row
  start[record + std::size_t(label_bytes) - 1] = 9;
  folder.write(file, start);
  std::filesystem::resize_file(folder.path(file), record * std::size_t(records));
}

TEST(Cifar, ReadsTheOfficialLayout) {
  test::TemporaryFolder folder;
  write_batch(folder, "cifar-10-batches-bin/test_batch.bin", 1, 10000);
  folder.write("cifar-10-batches-bin/batches.meta.txt", "airplane\nautomobile\nbird\ncat\n");
  for (const std::string& where : {folder.path(), folder.path("cifar-10-batches-bin")}) {
    const auto source = open_cifar10(where, "test");
    EXPECT_EQ(source->size(), 10000u);
    EXPECT_EQ(source->classes().size(), 10u);
    EXPECT_EQ(source->classes()[3], "cat");
    EXPECT_EQ(source->classes()[4], "class4");
    EXPECT_EQ(source->label(0), 3);
    EXPECT_EQ(source->label(1), 9);
    EXPECT_EQ(source->name(12), "cifar10/test/00012");
    EXPECT_EQ(source->statistics(), "cifar10");
    Image image;
    source->read(0, image);
    EXPECT_EQ(image.width, 32);
    EXPECT_EQ(image.row(0)[0], 11);
    EXPECT_EQ(image.row(0)[1], 21);
    EXPECT_EQ(image.row(0)[3], 12);
    EXPECT_EQ(image.row(1)[2], 31);
  }
}

TEST(Cifar, HundredHasTwoLabels) {
  test::TemporaryFolder folder;
  write_batch(folder, "test.bin", 2, 10000);
  const auto source = open_cifar100(folder.path(), "test");
  EXPECT_EQ(source->size(), 10000u);
  EXPECT_EQ(source->classes().size(), 100u);
  EXPECT_EQ(source->label(1), 9);
  Image image;
  source->read(0, image);
  EXPECT_EQ(image.row(0)[0], 11);
}

TEST(Cifar, MistakesAreNamed) {
  test::TemporaryFolder folder;
  test::expect_error([&] { open_cifar10(folder.path("nowhere"), "test"); }, {"nowhere"});
  test::expect_error([&] { open_cifar10(folder.path(), "test"); },
                     {"test_batch.bin", folder.path(), "cifar-10-batches-bin"});
  write_batch(folder, "test_batch.bin", 1, 9999);
  test::expect_error([&] { open_cifar10(folder.path(), "test"); }, {"30726927", "30730000"});
  // CIFAR-100's file under another name: as long as 10,003 records and a bit.
  write_batch(folder, "test_batch.bin", 2, 10000);
  test::expect_error([&] { open_cifar10(folder.path(), "test"); }, {"30740000", "30730000"});
  write_batch(folder, "test_batch.bin", 1, 10000);
  std::fstream(folder.path("test_batch.bin"), std::ios::in | std::ios::out | std::ios::binary)
      .put(char(10));
  test::expect_error([&] { open_cifar10(folder.path(), "test"); },
                     {"cifar10/test/00000", "label 10", "0 to 9"});
}

}  // namespace
}  // namespace cpl
