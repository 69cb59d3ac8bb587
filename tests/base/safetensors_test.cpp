#include "cplearn/base/safetensors.h"

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

class SafetensorsTest : public testing::Test {
 protected:
  // A small file with three types, an empty tensor and a scalar.
  void write_sample() {
    const float weight[] = {1, 2, 3, 4, 5, 6};
    const std::int64_t step[] = {42};
    const NamedBytes tensors = {
        {"flag", {"BOOL", {3}, std::string_view("\1\0\1", 3)}},
        {"layer.weight", {"F32", {2, 3}, {reinterpret_cast<const char*>(weight), sizeof weight}}},
        {"none", {"F32", {0, 7}, {}}},
        {"step", {"I64", {}, {reinterpret_cast<const char*>(step), sizeof step}}}};
    write_safetensors(path_, tensors, {{"run", "a \"quoted\" name"}, {"xx", "1"}});
  }

  void write_raw(const std::string& header, const std::string& data, std::int64_t length = -1) {
    const std::uint64_t size = length < 0 ? header.size() : static_cast<std::uint64_t>(length);
    char bytes[8];
    std::memcpy(bytes, &size, 8);
    write_file(path_, {std::string_view(bytes, 8), header, data});
  }

  // The message of the refusal.
  std::string refused() {
    return error_of([&] { Safetensors::read(path_); });
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path("x.safetensors");
};

TEST_F(SafetensorsTest, ReadsWhatItWrote) {
  write_sample();
  const Safetensors file = Safetensors::read(path_);
  EXPECT_TRUE(file.has_checksums());
  EXPECT_EQ(file.metadata(), (Metadata{{"run", "a \"quoted\" name"}, {"xx", "1"}}));
  ASSERT_EQ(file.tensors().size(), 4u);
  const TensorBytes& weight = file.tensors().at("layer.weight");
  EXPECT_EQ(weight.dtype, "F32");
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{2, 3}));
  float last = 0;
  std::memcpy(&last, weight.bytes.data() + 20, 4);
  EXPECT_EQ(last, 6.0f);
  EXPECT_EQ(file.tensors().at("flag").bytes, std::string_view("\1\0\1", 3));
  EXPECT_TRUE(file.tensors().at("step").shape.empty());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weight.bytes.data()) % 4, 0u);
}

TEST_F(SafetensorsTest, LayoutIsTheReferenceOne) {
  write_sample();
  const std::string file = read_file(path_);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(file[8], '{');
  EXPECT_EQ(file.size(), 8 + length + 8 + 24 + 3);  // I64, F32, BOOL: wide types first, no holes
  EXPECT_NE(file.find(R"("step":{"data_offsets":[0,8],"dtype":"I64","shape":[]})"),
            std::string::npos);
}

TEST_F(SafetensorsTest, ReadsForeignFilesWithoutChecksums) {
  write_raw(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}   )", "abcd");
  const Safetensors file = Safetensors::read(path_);
  EXPECT_FALSE(file.has_checksums());
  EXPECT_EQ(file.tensors().at("a").bytes, "abcd");
  write_raw("{}", "");
  EXPECT_TRUE(Safetensors::read(path_).tensors().empty());
}

TEST_F(SafetensorsTest, RefusesImpossibleFiles) {
  const struct {
    const char* header;
    std::size_t data;
    const char* reason;
  } cases[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7, "truncated"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9, "belong to nothing"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "needs 8 bytes"},
      {R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8, "impossible type"},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "impossible type"},
      {R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "impossible"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1, "impossible extent"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 1, "impossible extent"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, "impossible extent"},
      {R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1, "malformed"},
      {R"({"a":{"dtype":"U8","shape":[1]}})", 1, "malformed"},
      {R"({"a":7})", 0, "malformed"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "overlap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       3, "hole"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1, "twice"},
      {R"({"__metadata__":{"x":1}})", 0, "not a string"},
      {R"({"__metadata__":{"xxh64:a":"0"}})", 0, "checksum of the header"},
      {"[]", 0, "not a JSON object"},
      {"{", 0, "not valid JSON"},
      {"", 0, "not valid JSON"},
  };
  for (const auto& test : cases) {
    write_raw(test.header, std::string(test.data, 'x'));
    const std::string message = refused();
    EXPECT_NE(message.find(test.reason), std::string::npos) << test.header << "\n" << message;
    EXPECT_NE(message.find(path_), std::string::npos) << message;
  }
  write_raw("{}", "", std::int64_t{1} << 62);
  EXPECT_NE(refused().find("allowed"), std::string::npos);
  write_raw("{}", "", 99'999'999);
  EXPECT_NE(refused().find("truncated"), std::string::npos);
  write_raw(std::string(200'000, '['), "");
  EXPECT_NE(refused().find("not valid JSON"), std::string::npos);
  write_file(path_, "abc");
  EXPECT_NE(refused().find("not even a header"), std::string::npos);
}

TEST_F(SafetensorsTest, RefusesToWriteNonsense) {
  EXPECT_THROW(write_safetensors(path_, {{"a", {"F32", {2}, "abc"}}}), Error);
  EXPECT_THROW(write_safetensors(path_, {{"__metadata__", {"U8", {1}, "a"}}}), Error);
  EXPECT_THROW(write_safetensors(path_, {}, {{"xxh64:a", "mine"}}), Error);
  EXPECT_THROW(write_safetensors(path_, {{"\xff\xfe", {"U8", {1}, "a"}}}), Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Every truncation and every flipped bit is refused, but for the padding, which means nothing.
TEST_F(SafetensorsTest, EveryDamageIsSeen) {
  write_sample();
  const std::string good = read_file(path_);
  const auto outcome = [&](const std::string& bytes) {
    const std::string path = path_ + ".bad";
    FILE* out = std::fopen(path.c_str(), "w");  // not write_file: its fsync would make this slow
    std::fwrite(bytes.data(), 1, bytes.size(), out);
    std::fclose(out);
    try {
      const Safetensors file = Safetensors::read(path);
      return file.has_checksums() ? "same" : "unchecked";
    } catch (const Error&) {
      return "refused";
    }
  };
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_STREQ(outcome(good.substr(0, size)), "refused") << size;
  }
  std::uint64_t length = 0;
  std::memcpy(&length, good.data(), 8);
  const std::size_t text_end = good.find_last_not_of(' ', 8 + length - 1) + 1;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      const bool padding = i >= text_end && i < 8 + length;
      if (padding) continue;
      EXPECT_STREQ(outcome(bad), "refused") << "byte " << i << " bit " << bit;
    }
  }
  Random random(1, Stream::kEval);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string bad = good;
    for (int k = 0; k < 4; ++k) bad[random.below(good.size())] = static_cast<char>(random());
    if (bad != good) outcome(bad);  // no crash is all that is asked
  }
}

}  // namespace
}  // namespace cpl
