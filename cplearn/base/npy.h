#pragma once
// NumPy's .npy files, without torch:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html Read: versions 1 to 3,
// little-endian f4, f8, i4, i8, in C or Fortran order. Written: version 1, C.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cplearn/base/output_file.h"

namespace cpl {

struct NpyArray {
  std::string type;  // "f4", "f8", "i4" or "i8"
  std::vector<std::int64_t> shape;
  std::string bytes;  // in C order, little-endian

  std::int64_t size() const;
  template <class T>
  std::vector<T> values() const;  // T: float, double or std::int64_t
};

// Throws cpl::Error naming the file and what is wrong with it. Takes no more memory than a few
// times the file's length, whatever its header claims.
NpyArray read_npy(const std::string& path);

// A header of 128 bytes.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);

// Rows of `columns` values each, written as they come; 0 columns: one value per row, one dimension.
class NpyWriter {
 public:
  NpyWriter(const std::string& path, std::string type, std::int64_t columns);
  void append(const void* values, std::int64_t rows);
  void commit();  // the file appears
  std::int64_t rows() const { return rows_; }

 private:
  std::vector<std::int64_t> shape() const;

  OutputFile file_;
  std::string type_;
  std::int64_t columns_, rows_ = 0;
};

}  // namespace cpl
