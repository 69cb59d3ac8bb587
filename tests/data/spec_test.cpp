#include "cplearn/data/spec.h"

#include "tests/data/helpers.h"

namespace cpl {
namespace {

TEST(Spec, EveryForm) {
  DataSpec spec = parse_spec("shapes");
  EXPECT_EQ(spec.kind, "shapes");
  EXPECT_EQ(spec.where, "");
  EXPECT_EQ(spec.split, "");
  EXPECT_EQ(spec.first, 0u);

  spec = parse_spec("shapes:2000@test#50");
  EXPECT_EQ(spec.where, "2000");
  EXPECT_EQ(spec.split, "test");
  EXPECT_EQ(spec.first, 50u);

  spec = parse_spec("cifar10:/some/dir@train");
  EXPECT_EQ(spec.kind, "cifar10");
  EXPECT_EQ(spec.where, "/some/dir");
  EXPECT_EQ(spec.split, "train");

  EXPECT_EQ(parse_spec("svhn:/some/dir@extra").split, "extra");
  EXPECT_EQ(parse_spec("folder:pictures#7").first, 7u);
  EXPECT_EQ(parse_spec("/no/such/dir@test").where, "/no/such/dir");

  spec = parse_spec("imagenet100:/some/dir,classes.txt@test");
  EXPECT_EQ(spec.where, "/some/dir");
  EXPECT_EQ(spec.list, "classes.txt");
}

TEST(Spec, FolderNamesMayContainTheSeparators) {
  test::TemporaryFolder folder;
  for (const char* name : {"a@test", "b#12", "c:d", "e,f"}) {
    std::filesystem::create_directory(folder.path(name));
    const DataSpec spec = parse_spec(folder.path(name));
    EXPECT_EQ(spec.kind, "folder");
    EXPECT_EQ(spec.where, folder.path(name));
    EXPECT_EQ(spec.split, "");
  }
  const DataSpec spec = parse_spec("imagenet100:" + folder.path("e,f"));
  EXPECT_EQ(spec.where, folder.path("e,f"));
  EXPECT_EQ(spec.list, "");
}

TEST(Spec, MistakesNameTheSpecAndTheCandidates) {
  test::expect_error([] { parse_spec(""); }, {"empty", "shapes"});
  test::expect_error([] { parse_spec("cifr10:dir"); }, {"cifr10:dir", "did you mean 'cifar10'"});
  test::expect_error([] { parse_spec("mnist:dir"); }, {"'mnist'", "shapes, cifar10"});
  test::expect_error([] { parse_spec("shape"); }, {"'shape'", "did you mean 'shapes'"});
  test::expect_error([] { parse_spec("cifar10"); }, {"needs a folder", "cifar10:DIR"});
  test::expect_error([] { parse_spec("cifar10:d@tset"); }, {"'tset'", "did you mean 'test'"});
  test::expect_error([] { parse_spec("cifar10:d@extra"); }, {"'extra'", "train, test"});
  test::expect_error([] { parse_spec("shapes:many"); }, {"'many'", "number of images"});
  test::expect_error([] { parse_spec("shapes:0"); }, {"'0'", "number of images"});
  test::expect_error([] { parse_spec("shapes#x"); }, {"'x'", "#1000"});
  test::expect_error([] { parse_spec("shapes#0"); }, {"#1000"});
}

}  // namespace
}  // namespace cpl
