#include "cplearn/data/decode.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "cplearn/data/image_header.h"
#include "cplearn/data/jpeg.h"

namespace cpl {
namespace {

// A file without a picture's first bytes: shows them, because they usually tell what it is.
std::string not_a_picture(const std::vector<std::uint8_t>& bytes) {
  std::string start;
  for (std::size_t i = 0; i < bytes.size() && i < 16; ++i) {
    start += bytes[i] >= 32 && bytes[i] < 127 ? static_cast<char>(bytes[i]) : '.';
  }
  return str("not a JPEG, PNG, BMP, WebP, TIFF or PPM file (it begins \"", start, "\")");
}

void read_file(const std::string& path, std::vector<std::uint8_t>& bytes) {
  struct File {
    int handle;
    ~File() {
      if (handle >= 0) ::close(handle);
    }
  };
  // Non-blocking, so that a named pipe among the pictures cannot hang the program.
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.handle < 0) throw BadImage(path, str("cannot be opened: ", std::strerror(errno)));
  struct stat about;
  if (::fstat(file.handle, &about) != 0) throw BadImage(path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) throw BadImage(path, "is a folder, not a picture");
  if (!S_ISREG(about.st_mode)) throw BadImage(path, "is not a regular file");
  if (about.st_size == 0) throw BadImage(path, "is empty (0 bytes)");
  bytes.resize(static_cast<std::size_t>(about.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::read(file.handle, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw BadImage(path, str("cannot be read: ", std::strerror(errno)));
    if (got == 0) throw BadImage(path, "became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

void decode_image(const std::vector<std::uint8_t>& bytes, const std::string& file,
                  const DecodeOptions& options, Image& image) {
  if (bytes.empty()) throw BadImage(file, "is empty (0 bytes)");
  const ImageHeader header = read_image_header(bytes.data(), bytes.size());
  if (header.format == ImageFormat::kUnknown) throw BadImage(file, not_a_picture(bytes));
  if (header.format == ImageFormat::kJpeg) return decode_jpeg(bytes, file, options, image);
  const char* format = format_name(header.format);
  if (header.width <= 0 || header.height <= 0) {
    throw BadImage(
        file, str("damaged ", format, ": claims ", header.width, " x ", header.height, " pixels"));
  }
  if (header.height > options.max_pixels / header.width) {
    throw BadImage(file, str("claims ", header.width, " x ", header.height,
                             " pixels, more than the limit of ", options.max_pixels));
  }
  cv::Mat bgr;
  try {
    bgr = cv::imdecode(bytes, cv::IMREAD_COLOR);
  } catch (const std::exception& error) {  // cv::Exception, std::bad_alloc
    throw BadImage(file, str("damaged ", format, ": ", error.what()));
  }
  if (bgr.empty()) throw BadImage(file, str("damaged or unsupported ", format));
  image.resize(bgr.cols, bgr.rows);
  cv::Mat rgb(bgr.rows, bgr.cols, CV_8UC3, image.pixels.data());
  cv::cvtColor(bgr, rgb, cv::COLOR_BGR2RGB);
}

void decode_image_file(const std::string& path, const DecodeOptions& options, Image& image,
                       std::vector<std::uint8_t>& bytes) {
  read_file(path, bytes);
  decode_image(bytes, path, options, image);
}

}  // namespace cpl
