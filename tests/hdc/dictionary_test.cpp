#include "cplearn/hdc/dictionary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/hdc/coherence.h"
#include "cplearn/hdc/dictionary_file.h"

namespace cpl {
namespace {

constexpr DictionaryKind kKinds[] = {DictionaryKind::kHadamard, DictionaryKind::kRademacher};

std::uint64_t hash(const std::vector<std::uint8_t>& bytes) {
  return checksum(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// The same codes on every machine, for ever: a changed number here breaks every saved run.
TEST(Dictionary, TheSameCodesOnEveryMachine) {
  EXPECT_EQ(hash(Dictionary(DictionaryKind::kRademacher, 128, 1000, 1).bits()),
            3850429391466633089ull);
  EXPECT_EQ(hash(Dictionary(DictionaryKind::kHadamard, 128, 1000, 1).bits()),
            7800657322033051934ull);
}

TEST(Dictionary, BlocksAreExactlyOrthogonalWhereTheOrderExists) {
  for (const std::int64_t width :
       {1, 2, 4, 8, 12, 16, 20, 24, 40, 48, 64, 80, 96, 160, 192, 384, 512}) {
    const Dictionary dictionary(DictionaryKind::kHadamard, width, 2 * width, 3);
    EXPECT_EQ(dictionary.block(), width);
    for (const std::int64_t block : {std::int64_t{0}, width}) {
      for (std::int64_t j = 1; j < std::min<std::int64_t>(width, 40); ++j) {
        EXPECT_EQ(similarity(dictionary.code(block), dictionary.code(block + j)), 0.0) << width;
        EXPECT_EQ(similarity(dictionary.code(block + width - 1), dictionary.code(block + j - 1)),
                  0.0);
      }
    }
  }
}

// Widths without a matrix of their own take rows of the next order: how far from orthogonal is
// that? Never further than i.i.d. signs: variance at most 1/width.
TEST(Dictionary, OtherWidthsAreQuasiOrthogonal) {
  for (const std::int64_t width : {7, 10, 50, 100, 130, 300, 1000}) {
    const Dictionary dictionary(DictionaryKind::kHadamard, width, width, 3);
    EXPECT_GT(dictionary.block(), width);
    const Coherence found = coherence(dictionary, 200000, 1);
    EXPECT_LE(found.variance, 1.0 / static_cast<double>(width)) << width;
    EXPECT_LT(std::abs(found.mean), 2.5 / static_cast<double>(width)) << width;
  }
}

TEST(Dictionary, CosinesAcrossBlocksHaveMeanZeroAndVarianceOneOverWidth) {
  for (const DictionaryKind kind : kKinds) {
    for (const std::int64_t width : {50, 128}) {
      const std::int64_t codes = 40 * width;
      const Coherence found = coherence(Dictionary(kind, width, codes, 5), 300000, 1);
      EXPECT_FALSE(found.exhaustive);
      EXPECT_EQ(found.pairs, 300000);
      EXPECT_NEAR(found.mean, 0, 6 / std::sqrt(static_cast<double>(width) * 300000)) << width;
      EXPECT_NEAR(found.variance * static_cast<double>(width), 1, 0.05) << width;
      EXPECT_LT(found.maximum, 0.8);
      std::int64_t counted = 0;
      for (const std::int64_t bin : found.histogram) counted += bin;
      EXPECT_EQ(counted, found.pairs);
    }
  }
}

TEST(Dictionary, DenseAndCodesAndCosinesAgree) {
  for (const DictionaryKind kind : kKinds) {
    for (const std::int64_t width : {1, 7, 12, 20, 33, 64}) {
      const Dictionary dictionary(kind, width, 2 * width + 3, 2);
      const std::vector<float> dense = dictionary.dense();
      for (std::int64_t j = 0; j < dictionary.codes(); ++j) {
        for (std::int64_t k = 0; k < width; ++k)
          ASSERT_EQ(dense[static_cast<std::size_t>(k * dictionary.codes() + j)],
                    dictionary.code(j).sign(k));
      }
      const std::vector<float> cosines = cosine_matrix(dictionary);
      EXPECT_FLOAT_EQ(cosines[1],
                      static_cast<float>(similarity(dictionary.code(0), dictionary.code(1))));
      EXPECT_FLOAT_EQ(cosines[0], 1);
    }
  }
}

TEST(Dictionary, TheMeanIsThatOfTheDenseCodes) {
  for (const DictionaryKind kind : {DictionaryKind::kHadamard, DictionaryKind::kRademacher})
    for (const std::int64_t width : {16, 24, 50})
      for (const std::int64_t codes : {1, 16, 64, 100, 301}) {
        const Dictionary dictionary(kind, width, codes, 3);
        const std::vector<float> dense = dictionary.dense(), mean = dictionary.mean();
        ASSERT_EQ(mean.size(), static_cast<std::size_t>(width));
        for (std::int64_t k = 0; k < width; ++k) {
          double sum = 0;
          for (std::int64_t j = 0; j < codes; ++j)
            sum += dense[static_cast<std::size_t>(k * codes + j)];
          EXPECT_NEAR(mean[static_cast<std::size_t>(k)], sum / static_cast<double>(codes), 1e-6);
        }
      }
}

TEST(Dictionary, NearestFindsANoisyCode) {
  for (const DictionaryKind kind : kKinds) {
    for (const std::int64_t width : {100, 384, 512}) {
      const Dictionary dictionary(kind, width, 3000, 4);
      for (const std::int64_t j : {0, 1, 1234, 2999}) {
        Code query = dictionary.code(j);
        EXPECT_EQ(dictionary.nearest(query).code, j);
        EXPECT_EQ(dictionary.nearest(query).similarity, 1.0);
        for (std::int64_t k = 0; k < width / 8; ++k)
          query.set_negative(8 * k, !query.negative(8 * k));
        const Dictionary::Match match = dictionary.nearest(query);
        EXPECT_EQ(match.code, j);
        EXPECT_NEAR(match.similarity, similarity(query, dictionary.code(j)), 1e-6);
      }
    }
  }
}

TEST(Dictionary, TakesOneBitPerCodeOrPerSign) {
  EXPECT_EQ(Dictionary(DictionaryKind::kHadamard, 512, 16384, 1).bits().size(), 16384u / 8);
  EXPECT_EQ(Dictionary(DictionaryKind::kRademacher, 512, 16384, 1).bits().size(), 512u * 16384 / 8);
}

TEST(Dictionary, FilesGiveBackTheSameCodesAndRefuseOthers) {
  const std::string path =
      testing::TempDir() + "cplearn-test-" + std::to_string(::getpid()) + ".safetensors";
  for (const DictionaryKind kind : kKinds) {
    const Dictionary saved(kind, 100, 2000, 9);
    save_dictionary(path, saved);
    EXPECT_LT(std::filesystem::file_size(path), saved.bits().size() + 600);
    const Dictionary loaded = load_dictionary(path);
    EXPECT_EQ(loaded.bits(), saved.bits());
    EXPECT_EQ(loaded.kind(), kind);
    EXPECT_EQ(loaded.seed(), 9u);
    EXPECT_EQ(loaded.code(1999), saved.code(1999));
  }
  std::string damaged = read_file(path);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  write_file(path, damaged);
  EXPECT_THROW(load_dictionary(path), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(load_dictionary(path), Error);
}

TEST(Dictionary, RefusesImpossibleShapes) {
  EXPECT_THROW(Dictionary(DictionaryKind::kHadamard, 0, 10, 1), Error);
  EXPECT_THROW(Dictionary(DictionaryKind::kHadamard, 8, 0, 1), Error);
  EXPECT_THROW(Dictionary(DictionaryKind::kRademacher, 8, 100000000, 1), Error);
  EXPECT_THROW(Dictionary(DictionaryKind::kRademacher, 8, 16, 1).code(16), Error);
  EXPECT_THROW(Dictionary(DictionaryKind::kRademacher, 8, 16, 1, {1, 2, 3}), Error);
}

}  // namespace
}  // namespace cpl
