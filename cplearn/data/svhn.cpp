#include "cplearn/data/svhn.h"

#include <filesystem>
#include <fstream>

#include <matio.h>

#include "cplearn/data/memory_source.h"

namespace cpl {
namespace {

struct CloseFile {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using File = std::unique_ptr<mat_t, CloseFile>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

std::string shape_of(const matvar_t& variable) {
  std::string text;
  for (int i = 0; i < variable.rank; ++i) text += str(i ? " x " : "", variable.dims[i]);
  return text;
}

// The elements of a version 5 file (a 128-byte header, then type, size, contents) must end where
// the file does: matio overlooks a file whose end is missing.
bool is_complete(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(in.tellg());
  std::uint64_t at = 128;
  while (in && at < size) {
    std::uint32_t tag[2] = {};
    in.seekg(static_cast<std::streamoff>(at));
    in.read(reinterpret_cast<char*>(tag), sizeof tag);
    at += sizeof tag + tag[1];
  }
  return in && at == size;
}

Variable read_variable(mat_t* file, const std::string& path, const char* name) {
  Variable variable(Mat_VarReadInfo(file, name));
  CPL_CHECK(variable, "svhn: '", path, "' has no variable '", name,
            "'; expected the cropped digits (format 2) of SVHN");
  return variable;
}

void read_data(mat_t* file, const std::string& path, matvar_t* variable) {
  const bool good = Mat_VarReadDataAll(file, variable) == 0 && variable->data;
  CPL_CHECK(good, "svhn: variable '", variable->name, "' of '", path,
            "' cannot be read: the file is damaged or cut short; download it again");
}

// MATLAB stores columns first, so a picture is [3][column][row] here: turns it in place.
void transpose_planes(std::uint8_t* planes) {
  constexpr int kSide = MemorySource::kSide;
  for (int c = 0; c < 3; ++c, planes += kSide * kSide) {
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < y; ++x) std::swap(planes[y * kSide + x], planes[x * kSide + y]);
    }
  }
}

// Ten stands for the digit 0.
std::uint8_t digit(double label, const std::string& path) {
  CPL_CHECK(label >= 0 && label <= 10 && label == static_cast<int>(label), "svhn: label ", label,
            " in '", path, "', expected whole numbers from 1 to 10");
  return static_cast<std::uint8_t>(static_cast<int>(label) % 10);
}

}  // namespace

std::unique_ptr<Source> open_svhn(const std::string& folder, const std::string& split) {
  const std::string path = (std::filesystem::path(folder) / (split + "_32x32.mat")).string();
  std::error_code ignored;
  CPL_CHECK(std::filesystem::exists(path, ignored), "svhn: there is no file '", path,
            "'; expected train_32x32.mat, test_32x32.mat or extra_32x32.mat in that folder");
  const File file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  CPL_CHECK(file && Mat_GetVersion(file.get()) == MAT_FT_MAT5, "svhn: '", path,
            "' cannot be opened as a MATLAB file of version 5: it is unreadable, damaged, or "
            "something else; download it again");
  CPL_CHECK(is_complete(path), "svhn: '", path, "' is cut short; download it again");

  const Variable pixels = read_variable(file.get(), path, "X");
  const bool is_pixels = pixels->rank == 4 && pixels->dims[0] == MemorySource::kSide &&
                         pixels->dims[1] == MemorySource::kSide && pixels->dims[2] == 3 &&
                         pixels->dims[3] > 0 && pixels->class_type == MAT_C_UINT8 &&
                         !pixels->isComplex;
  CPL_CHECK(is_pixels, "svhn: variable 'X' of '", path, "' is ", shape_of(*pixels), " of class ",
            int(pixels->class_type), ", expected 32 x 32 x 3 x N of 8-bit numbers (class ",
            int(MAT_C_UINT8), ")");
  const std::size_t images = pixels->dims[3];

  const Variable targets = read_variable(file.get(), path, "y");
  const bool doubles = targets->class_type == MAT_C_DOUBLE;
  std::size_t count = 1;
  for (int i = 0; i < targets->rank; ++i) count *= targets->dims[i];
  CPL_CHECK(
      count == images && (doubles || targets->class_type == MAT_C_UINT8) && !targets->isComplex,
      "svhn: variable 'y' of '", path, "' is ", shape_of(*targets), " of class ",
      int(targets->class_type), ", expected ", images, " labels as double or 8-bit numbers");

  read_data(file.get(), path, targets.get());
  std::vector<std::uint8_t> labels(images);
  for (std::size_t i = 0; i < images; ++i) {
    const double label = doubles ? static_cast<const double*>(targets->data)[i]
                                 : static_cast<const std::uint8_t*>(targets->data)[i];
    labels[i] = digit(label, path);
  }
  read_data(file.get(), path, pixels.get());
  CPL_CHECK(pixels->nbytes == images * MemorySource::kBytes, "svhn: '", path, "' holds ",
            pixels->nbytes, " bytes of pixels for ", images, " images");
  const auto* bytes = static_cast<const std::uint8_t*>(pixels->data);
  std::vector<std::uint8_t> planes(bytes, bytes + pixels->nbytes);
  for (std::size_t i = 0; i < images; ++i) transpose_planes(&planes[i * MemorySource::kBytes]);

  std::vector<std::string> classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return std::make_unique<MemorySource>(std::move(planes), std::move(labels), std::move(classes),
                                        "svhn", "svhn/" + split);
}

}  // namespace cpl
