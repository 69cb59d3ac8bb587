#include "cplearn/data/cifar.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cplearn/data/memory_source.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

struct FileLayout {
  const char* name;     // as in specs
  const char* archive;  // the folder in the official archive
  const char* names;    // file with one class name per line
  int classes;
  int label_bytes;  // the last of them is the label
  int images_per_file;
  std::vector<std::string> files;
};

FileLayout layout_of(bool hundred, const std::string& split) {
  const bool train = split == "train";
  if (hundred) {
    return {"cifar100",
            "cifar-100-binary",
            "fine_label_names.txt",
            100,
            2,
            train ? 50000 : 10000,
            {train ? "train.bin" : "test.bin"}};
  }
  FileLayout layout{"cifar10", "cifar-10-batches-bin", "batches.meta.txt", 10, 1, 10000, {}};
  if (!train) layout.files = {"test_batch.bin"};
  for (int i = 1; train && i <= 5; ++i) layout.files.push_back(str("data_batch_", i, ".bin"));
  return layout;
}

fs::path find_folder(const std::string& folder, const FileLayout& layout) {
  std::error_code ignored;
  CPL_CHECK(fs::is_directory(folder, ignored), layout.name, ": there is no folder '", folder, "'");
  fs::path below = fs::path(folder) / layout.archive;
  if (fs::exists(folder / fs::path(layout.files[0]), ignored)) return folder;
  if (fs::exists(below / layout.files[0], ignored)) return below;
  throw Error(str(layout.name, ": no ", layout.files[0], " in '", folder, "' nor in '",
                  below.string(), "'; unpack the binary version of the data set there (",
                  layout.archive, ")"));
}

// One name per line; numbers when the file is not there.
std::vector<std::string> class_names(const fs::path& file, int count) {
  std::vector<std::string> names;
  std::ifstream in(file);
  for (std::string line; static_cast<int>(names.size()) < count && std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  for (int i = static_cast<int>(names.size()); i < count; ++i) names.push_back(str("class", i));
  return names;
}

std::unique_ptr<Source> open(const std::string& folder, const std::string& split, bool hundred) {
  const FileLayout layout = layout_of(hundred, split);
  const fs::path where = find_folder(folder, layout);
  const std::size_t record = layout.label_bytes + MemorySource::kBytes;
  const std::size_t expected = record * layout.images_per_file;
  std::vector<std::uint8_t> planes, labels;
  planes.reserve(layout.files.size() * layout.images_per_file * MemorySource::kBytes);
  for (const std::string& file : layout.files) {
    const std::string path = (where / file).string();
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    CPL_CHECK(in, layout.name, ": '", path, "' cannot be opened: ", std::strerror(errno));
    const auto size = static_cast<std::size_t>(in.tellg());
    CPL_CHECK(size == expected, layout.name, ": '", path, "' has ", size, " bytes, expected ",
              expected, " (", layout.images_per_file, " records of ", record,
              "); download and unpack it again");
    in.seekg(0);
    std::vector<char> buffer(record);
    for (int i = 0; i < layout.images_per_file; ++i) {
      in.read(buffer.data(), static_cast<std::streamsize>(record));
      labels.push_back(static_cast<std::uint8_t>(buffer[layout.label_bytes - 1]));
      planes.insert(planes.end(), buffer.begin() + layout.label_bytes, buffer.end());
    }
    CPL_CHECK(in, layout.name, ": '", path, "' cannot be read: ", std::strerror(errno));
  }
  return std::make_unique<MemorySource>(std::move(planes), std::move(labels),
                                        class_names(where / layout.names, layout.classes),
                                        layout.name, str(layout.name, "/", split));
}

}  // namespace

std::unique_ptr<Source> open_cifar10(const std::string& folder, const std::string& split) {
  return open(folder, split, false);
}

std::unique_ptr<Source> open_cifar100(const std::string& folder, const std::string& split) {
  return open(folder, split, true);
}

}  // namespace cpl
