#include "cplearn/data/folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cplearn/data/image_header.h"

namespace cpl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLookedFor = ".jpg .jpeg .png .bmp .webp .tif .tiff .ppm .pgm .pnm";

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// What is in a folder, sorted by name, without hidden files.
std::vector<std::string> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name[0] != '.') names.push_back(std::move(name));
  }
  CPL_CHECK(!error, "folder '", folder.string(), "' cannot be listed: ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void check_folder(const std::string& root) {
  std::error_code ignored;
  CPL_CHECK(fs::exists(root, ignored), "there is no folder '", root, "'");
  CPL_CHECK(is_folder(root), "'", root, "' is a file; expected a folder of pictures");
}

}  // namespace

// What a scan passes down and counts for error messages.
struct FolderSource::Listing {
  std::vector<fs::path> ancestors;  // real paths, against links that lead back up
  std::size_t others = 0;           // files that are not pictures
  std::string other;                // the first of them
};

FolderSource::FolderSource(const std::string& root, const std::vector<std::string>& only,
                           const DecodeOptions& decode)
    : Source({}, "imagenet"), root_(root), decode_(decode) {
  check_folder(root);
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  Listing listing;
  std::error_code ignored;
  listing.ancestors.push_back(fs::canonical(root_, ignored));
  const bool chosen = !only.empty();
  for (const std::string& entry : chosen ? only : entries_of(root_)) {
    const bool is_class = is_folder(fs::path(root_) / entry);
    CPL_CHECK(is_class || !chosen, "'", root_, "' has no sub-folder '", entry,
              "', which the list of classes names");
    const std::size_t before = size();
    scan(entry, is_class ? static_cast<int>(classes_.size()) : -1, listing);
    CPL_CHECK(size() > before || !chosen, "'", root_, "/", entry, "' holds no pictures (",
              kLookedFor, ")");
    if (is_class && size() > before) classes_.push_back(entry);
  }
  const std::string found = listing.others ? str("; found ", listing.others,
                                                 " other files, for instance '", listing.other, "'")
                                           : "; found no files at all";
  CPL_CHECK(size() > 0, "no pictures in '", root_, "': looked in it and below it for ", kLookedFor,
            found);
  names_.shrink_to_fit();
  ends_.shrink_to_fit();
  labels_.shrink_to_fit();
}

void FolderSource::scan(const std::string& below, int label, Listing& listing) {
  const fs::path path = fs::path(root_) / below;
  if (!is_folder(path)) {
    if (has_image_extension(below)) {
      names_ += below;
      ends_.push_back(names_.size());
      labels_.push_back(label);
    } else if (listing.others++ == 0) {
      listing.other = below;
    }
    return;
  }
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);
  const auto& above = listing.ancestors;
  if (std::find(above.begin(), above.end(), real) != above.end()) return;
  listing.ancestors.push_back(real);
  for (const std::string& entry : entries_of(path)) scan(str(below, "/", entry), label, listing);
  listing.ancestors.pop_back();
}

std::string FolderSource::name(std::size_t index) const {
  const std::size_t begin = index ? ends_[index - 1] : 0;
  return root_ + "/" + names_.substr(begin, ends_[index] - begin);
}

void FolderSource::read(std::size_t index, Image& image) const {
  thread_local std::vector<std::uint8_t> bytes;
  decode_image_file(name(index), decode_, image, bytes);
}

std::string split_folder(const std::string& root, const std::string& split) {
  check_folder(root);
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      const fs::path path = fs::path(root) / name;
      if (is_folder(path)) return path.string();
    }
    return "";
  };
  const std::string train = first_of({"train"});
  const std::string test = first_of({"test", "val", "valid", "validation"});
  if (split.empty()) return !train.empty() && !test.empty() ? train : root;
  std::string found = split == "train" ? train : test;
  if (!found.empty()) return found;
  std::string inside;
  for (const std::string& entry : entries_of(root)) {
    if (is_folder(fs::path(root) / entry) && inside.size() < 200) inside += " " + entry;
  }
  throw Error(str("'", root, "' has no sub-folder ", split == "train" ? "train" : "test or val",
                  " for @", split, "; its sub-folders are:", inside.empty() ? " none" : inside));
}

std::vector<std::string> read_class_list(const std::string& path) {
  std::ifstream in(path);
  CPL_CHECK(in, "the list of classes '", path, "' cannot be opened");
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (words >> name) names.push_back(name);
  }
  CPL_CHECK(!names.empty(), "the list of classes '", path, "' is empty; expected a name per line");
  return names;
}

}  // namespace cpl
