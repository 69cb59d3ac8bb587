#include "cplearn/data/svhn.h"

#include <matio.h>

#include "tests/data/helpers.h"

namespace cpl {
namespace {

struct MatVariable {
  std::string name;
  matio_classes kind;
  matio_types type;
  std::vector<std::size_t> shape;
  const void* data;  // only read
};

void write_mat(const std::string& path, std::vector<MatVariable> variables) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  ASSERT_NE(file, nullptr);
  for (MatVariable& v : variables) {
    matvar_t* variable = Mat_VarCreate(v.name.c_str(), v.kind, v.type, int(v.shape.size()),
                                       v.shape.data(), const_cast<void*>(v.data), 0);
    Mat_VarWrite(file, variable, MAT_COMPRESSION_ZLIB);
    Mat_VarFree(variable);
  }
  Mat_Close(file);
}

class Svhn : public ::testing::Test {
 protected:
  static constexpr std::size_t kImages = 5;
  Svhn() : pixels_(kImages * 3072) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = std::uint8_t(i * 31 >> 3);
  }
  MatVariable x() const {
    return {"X", MAT_C_UINT8, MAT_T_UINT8, {32, 32, 3, kImages}, pixels_.data()};
  }
  MatVariable y() const { return {"y", MAT_C_DOUBLE, MAT_T_DOUBLE, {kImages, 1}, labels_}; }
  void write(std::vector<MatVariable> variables) {
    write_mat(folder_.path("train_32x32.mat"), std::move(variables));
  }
  void expect_refused(const std::vector<std::string>& parts) {
    test::expect_error([&] { open_svhn(folder_.path(), "train"); }, parts);
  }

  test::TemporaryFolder folder_;
  std::vector<std::uint8_t> pixels_;
  const double labels_[kImages] = {1, 10, 3, 9, 2};
};

TEST_F(Svhn, ReadsColumnsFirstAndTenAsZero) {
  write({x(), y()});
  const auto source = open_svhn(folder_.path(), "train");
  ASSERT_EQ(source->size(), kImages);
  EXPECT_EQ(source->label(0), 1);
  EXPECT_EQ(source->label(1), 0);
  EXPECT_EQ(source->classes()[9], "9");
  EXPECT_EQ(source->name(3), "svhn/train/00003");
  Image image;
  source->read(2, image);
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 32; ++column) {
      for (int c = 0; c < 3; ++c) {
        const std::size_t at = 2 * 3072 + std::size_t(c * 1024 + column * 32 + row);
        ASSERT_EQ(image.row(row)[3 * column + c], pixels_[at]);
      }
    }
  }
}

TEST_F(Svhn, EightBitLabelsToo) {
  const std::uint8_t labels[kImages] = {1, 2, 3, 10, 5};
  write({x(), {"y", MAT_C_UINT8, MAT_T_UINT8, {1, kImages}, labels}});
  EXPECT_EQ(open_svhn(folder_.path(), "train")->label(3), 0);
}

TEST_F(Svhn, MistakesAreNamed) {
  expect_refused({"train_32x32.mat", "extra_32x32.mat"});
  folder_.write("train_32x32.mat", std::string("this is not a MATLAB file"));
  expect_refused({"train_32x32.mat", "MATLAB"});
  folder_.write("train_32x32.mat", std::string());
  expect_refused({"train_32x32.mat", "MATLAB"});
  write({y()});
  expect_refused({"no variable 'X'"});
  write({x()});
  expect_refused({"no variable 'y'"});
  MatVariable wrong = x();
  wrong.shape = {32, 32, kImages, 3};
  write({wrong, y()});
  expect_refused({"'X'", "32 x 32 x 5 x 3", "32 x 32 x 3 x N"});
  wrong = x();
  wrong.shape = {32 * 32 * 3, kImages};
  write({wrong, y()});
  expect_refused({"'X'", "3072 x 5"});
  const std::vector<double> doubles(kImages * 3072);
  write({{"X", MAT_C_DOUBLE, MAT_T_DOUBLE, {32, 32, 3, kImages}, doubles.data()}, y()});
  expect_refused({"'X'", "8-bit"});
  wrong = y();
  wrong.shape = {kImages - 1, 1};
  write({x(), wrong});
  expect_refused({"'y'", "4 x 1", "5 labels"});
  const double bad[kImages] = {1, 2, 3, 4, 11};
  write({x(), {"y", MAT_C_DOUBLE, MAT_T_DOUBLE, {kImages, 1}, bad}});
  expect_refused({"label 11", "1 to 10"});
}

TEST_F(Svhn, CutShortAnywhereNeverCrashes) {
  write({x(), y()});
  const std::string path = folder_.path("train_32x32.mat");
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t keep = 0; keep < size; keep += 1 + size / 60) {
    write({x(), y()});
    std::filesystem::resize_file(path, keep);
    EXPECT_THROW(open_svhn(folder_.path(), "train"), Error) << keep << " of " << size;
  }
}

}  // namespace
}  // namespace cpl
