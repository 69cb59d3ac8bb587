#include "cplearn/base/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/random.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

class NpyTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  // A file as NumPy would write it, with any header.
  std::string file(const std::string& header, const std::string& data, char version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += version;
    bytes += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
    write_file(path("x.npy"), bytes + header + data);
    return path("x.npy");
  }
  std::string refusal(const std::string& name) {
    return error_of([&] { read_npy(name); });
  }

  test::TemporaryFolder folder_;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_F(NpyTest, ReadsWhatWasWrittenRowByRow) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  NpyWriter writer(path("a.npy"), "f4", 3);
  writer.append(values.data(), 1);
  EXPECT_FALSE(fs::exists(path("a.npy")));
  writer.append(values.data() + 3, 1);
  writer.commit();
  const NpyArray array = read_npy(path("a.npy"));
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array.values<float>(), values);
  EXPECT_EQ(array.size(), 6);
  EXPECT_EQ(fs::file_size(path("a.npy")), 128 + 24);  // NumPy wants data aligned to 64

  NpyWriter(path("b.npy"), "i8", 0).append("12345678", 1);  // never committed: nothing stays
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
  NpyWriter empty(path("c.npy"), "i8", 0);
  empty.commit();
  EXPECT_EQ(read_npy(path("c.npy")).shape, (std::vector<std::int64_t>{0}));
}

TEST_F(NpyTest, ReadsEveryKindNumpyWrites) {
  const std::string c = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }   \n";
  const std::string fortran = "{'shape': (2, 3), 'descr': \"<i4\", 'fortran_order': True}\n";
  for (const char version : {1, 2, 3}) {
    EXPECT_EQ(read_npy(file(c, raw<std::int32_t>({1, 2, 3, 4, 5, 6}), version)).values<double>(),
              (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(read_npy(file(fortran, raw<std::int32_t>({1, 4, 2, 5, 3, 6}), version))
                  .values<std::int64_t>(),
              (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
  }
  const auto scalar =
      read_npy(file("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", raw<double>({2.5})));
  EXPECT_EQ(scalar.values<float>(), std::vector<float>{2.5f});
  const auto deep = read_npy(file("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 1, 2), }",
                                  raw<std::int64_t>({1, 3, 2, 4})));
  EXPECT_EQ(deep.values<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST_F(NpyTest, RefusesTheRestAndSaysWhy) {
  const auto header = [](const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const auto expect = [&](const std::string& head, const std::string& data, const char* words) {
    const std::string said = refusal(file(head, data));
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect(header(">f4", "(1,)"), "abcd", "'>f4'");
  expect(header("|O", "(1,)"), "abcd", "astype");
  expect(header("<f4", "(2,)"), "abcd", "cut off");
  expect(header("<f4", "(1,)"), "abcdefgh", "damaged");
  expect(header("<f4", "(4611686018427387904, 4)"), "", "sensible");
  expect(header("<f4", "(100000000000, 100000000000)"), "abcd", "cut off");
  expect(header("<f4", "(-1,)"), "abcd", "sensible");
  expect("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd", "text");
  expect(header("<f4", "(" + std::string(60, '9') + ",)"), "abcd", "sensible");
  expect("{'descr': '<f4', 'shape': (1,), }", "abcd", "missing");
  expect("", "", "damaged");
  write_file(path("x.npy"), "not numpy at all");
  EXPECT_NE(refusal(path("x.npy")).find("numpy.save"), std::string::npos);
  write_file(path("x.npy"), std::string_view("\x93NUMPY\x01\x00\xff\xff{", 11));
  EXPECT_NE(refusal(path("x.npy")).find("cut off"), std::string::npos);
  EXPECT_NE(refusal(path("none.npy")).find("none.npy"), std::string::npos);
}

TEST_F(NpyTest, NoDamageCrashes) {
  const std::string good = npy_header("f4", {3, 2}) + std::string(24, 'x');
  Random random(7, Stream::kEval);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good.substr(0, random.below(2) ? good.size() : random.below(good.size() + 1));
    for (std::uint32_t edits = 1 + random.below(4); edits-- > 0 && !bad.empty();)
      bad[random.below(static_cast<std::uint32_t>(bad.size()))] = static_cast<char>(random() & 255);
    write_file(path("x.npy"), bad);
    refusal(path("x.npy"));  // an array or an Error
  }
}

}  // namespace
}  // namespace cpl
