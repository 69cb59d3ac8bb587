#include "cplearn/base/npy.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <numeric>
#include <optional>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"

namespace cpl {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeader = 128;  // of files written here
constexpr std::size_t kMostDimensions = 32;

std::size_t bytes_of(const std::string& type) { return static_cast<std::size_t>(type[1] - '0'); }

// The header: a Python dictionary with three known keys.
struct Header {
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
};

class HeaderParser {
 public:
  HeaderParser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = quoted();
      } else if (key == "fortran_order") {
        header.fortran = boolean();
      } else if (key == "shape") {
        header.shape = tuple();
      } else {
        damaged(str("unknown key '", key, "'"));
      }
      if (!next_is(',')) {
        expect('}');
        break;
      }
    }
    if (header.descr.empty() || !header.fortran || !header.shape)
      damaged("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(str(file_, ": the .npy header is damaged or of a kind that is not read: ", what,
                    "; save plain numbers with numpy.save"));
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!next_is(c)) damaged(str("expected '", std::string(1, c), "' at ", at_));
  }
  std::string quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') damaged(str("expected a text at ", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) damaged("a text does not end");
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_, std::strlen(word)) != word) continue;
      at_ += std::strlen(word);
      return value;
    }
    damaged("fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!next_is(')')) {
      skip_space();
      std::size_t digits = 0;
      std::int64_t value = 0;
      for (; digits < 18 && at_ < text_.size() &&
             std::isdigit(static_cast<unsigned char>(text_[at_]));
           ++at_, ++digits)
        value = 10 * value + (text_[at_] - '0');
      if (digits == 0 || digits > 17 || shape.size() == kMostDimensions)
        damaged("a dimension is not a sensible number");
      shape.push_back(value);
      if (!next_is(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// Element i in C order of an array stored in Fortran order.
std::string to_c_order(std::string_view stored, const std::vector<std::int64_t>& shape,
                       std::size_t bytes) {
  std::string out(stored.size(), '\0');
  std::vector<std::int64_t> index(shape.size());
  const std::size_t count = stored.size() / bytes;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t from = 0;
    for (std::size_t d = shape.size(); d-- > 0;)
      from = from * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(index[d]);
    std::memcpy(&out[i * bytes], &stored[from * bytes], bytes);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

template <class From, class To>
std::vector<To> convert(const std::string& bytes) {
  std::vector<To> out(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, &bytes[i * sizeof(From)], sizeof value);
    out[i] = static_cast<To>(value);
  }
  return out;
}

}  // namespace

std::int64_t NpyArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

template <class T>
std::vector<T> NpyArray::values() const {
  if (type == "f4") return convert<float, T>(bytes);
  if (type == "f8") return convert<double, T>(bytes);
  if (type == "i4") return convert<std::int32_t, T>(bytes);
  return convert<std::int64_t, T>(bytes);
}
template std::vector<float> NpyArray::values() const;
template std::vector<double> NpyArray::values() const;
template std::vector<std::int64_t> NpyArray::values() const;

NpyArray read_npy(const std::string& path) {
  const std::string file = read_file(path);
  const std::string_view all = file;
  CPL_CHECK(all.size() >= 10 && all.substr(0, kMagic.size()) == kMagic, path,
            " is not a NumPy file: expected one written by numpy.save");
  const int version = static_cast<unsigned char>(all[6]);
  CPL_CHECK(version >= 1 && version <= 3, path, " has version ", version,
            " of the .npy format, expected 1, 2 or 3");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = std::min(start, all.size()); i-- > 8;)
    length = length << 8 | static_cast<unsigned char>(all[i]);
  CPL_CHECK(all.size() >= start && length <= all.size() - start, path,
            " is cut off: its header alone should have ", length, " bytes");
  const Header header = HeaderParser(path, all.substr(start, length)).parse();
  static const std::vector<std::string> kTypes = {"<f4", "<f8", "<i4", "<i8"};
  CPL_CHECK(std::count(kTypes.begin(), kTypes.end(), header.descr), path, " holds values of type '",
            header.descr, "', expected one of <f4, <f8, <i4, <i8: save array.astype('float32')");

  NpyArray array;
  array.type = header.descr.substr(1);
  array.shape = *header.shape;
  const std::string_view data = all.substr(start + length);
  const std::size_t bytes = bytes_of(array.type);
  std::size_t count = 1;
  bool fits = true;
  for (const std::int64_t dimension : array.shape) {
    // Compared by division: the product of what a damaged header claims may not fit.
    const auto n = static_cast<std::size_t>(dimension);
    fits = fits && (n == 0 || count <= data.size() / bytes / n || count == 0);
    count = fits ? count * n : 0;
  }
  CPL_CHECK(
      fits && count * bytes == data.size(), path, " should hold an array of ",
      [&] {
        std::string text;
        for (const std::int64_t d : array.shape) text += str(text.empty() ? "" : " x ", d);
        return text;
      }(),
      " values of ", bytes, " bytes, but ", data.size(),
      " bytes follow the header: it is cut off or damaged");
  array.bytes = *header.fortran && array.shape.size() > 1 ? to_c_order(data, array.shape, bytes)
                                                          : std::string(data);
  return array;
}

std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape) {
  std::string tuple;
  for (const std::int64_t d : shape) tuple += str(d, ", ");
  if (shape.size() > 1) tuple.resize(tuple.size() - 2);
  if (shape.size() == 1) tuple.pop_back();  // "(3,)"
  std::string header = str(kMagic, '\x01', '\0', '\0', '\0', "{'descr': '<", type,
                           "', 'fortran_order': False, 'shape': (", tuple, "), }");
  CPL_CHECK(header.size() < kHeader, "an array of ", shape.size(), " dimensions is too large");
  header.resize(kHeader - 1, ' ');
  header += '\n';
  header[8] = static_cast<char>(kHeader - 10);
  return header;
}

NpyWriter::NpyWriter(const std::string& path, std::string type, std::int64_t columns)
    : file_(path), type_(std::move(type)), columns_(columns) {
  file_.append(npy_header(type_, shape()));
}

std::vector<std::int64_t> NpyWriter::shape() const {
  return columns_ > 0 ? std::vector<std::int64_t>{rows_, columns_}
                      : std::vector<std::int64_t>{rows_};
}

void NpyWriter::append(const void* values, std::int64_t rows) {
  const std::size_t bytes =
      static_cast<std::size_t>(rows * std::max<std::int64_t>(columns_, 1)) * bytes_of(type_);
  file_.append({static_cast<const char*>(values), bytes});
  rows_ += rows;
}

void NpyWriter::commit() {
  file_.replace_beginning(npy_header(type_, shape()));
  file_.commit();
}

}  // namespace cpl
