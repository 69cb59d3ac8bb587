#include "cplearn/base/processor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/restored.h"

namespace cpl {
namespace {

using Variables = std::map<std::string, std::string>;

std::vector<Limit> limits_of(const ProcessorFacts& processor, const std::string& kernels,
                             const Variables& variables = {}) {
  return decide_limits(processor, kernels, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

// "A=1 B=2" for what the program sets itself.
std::string text_of(const std::vector<Limit>& limits) {
  std::string text;
  for (const Limit& limit : limits) {
    if (!limit.by_user) text += (text.empty() ? "" : " ") + limit.variable + "=" + limit.value;
    EXPECT_FALSE(limit.reason.empty());
  }
  return text;
}

// Made-up processors, each the one before it and something more.
ProcessorFacts core2() {
  ProcessorFacts p;
  p.vendor = "GenuineIntel";
  p.highest_leaf = 0xA;
  return p;
}
ProcessorFacts haswell() {
  ProcessorFacts p = core2();
  p.highest_leaf = 0xD;
  p.avx2 = p.fma = p.saves_avx = true;
  return p;
}
ProcessorFacts skylake_x() {
  ProcessorFacts p = haswell();
  p.highest_leaf = 0x16;
  p.avx512 = p.saves_avx512 = true;
  return p;
}
ProcessorFacts ice_lake() {
  ProcessorFacts p = skylake_x();
  p.highest_leaf = 0x1B;
  p.avx512_vnni = true;
  return p;
}
ProcessorFacts cooper_lake() {
  ProcessorFacts p = ice_lake();
  p.avx512_bf16 = true;
  return p;
}
ProcessorFacts sapphire_rapids() {
  ProcessorFacts p = cooper_lake();
  p.highest_leaf = 0x20;
  p.avx512_fp16 = p.amx_tile = p.amx_bf16 = p.saves_amx = true;
  p.amx_palettes = 1;
  return p;
}
ProcessorFacts amd(ProcessorFacts p) {
  p.vendor = "AuthenticAMD";
  p.highest_leaf = 0x10;
  return p;
}

struct Row {
  const char* name;
  ProcessorFacts processor;
  const char* kernels;  // that OpenBLAS takes
  const char* limits;
  bool bf16_winograd, bf16_transformer;
};

std::vector<Row> rows() {
  ProcessorFacts no_leaf = sapphire_rapids();  // as met: AMX advertised, the highest leaf is 0x1C
  no_leaf.highest_leaf = 0x1C;
  no_leaf.amx_palettes = 0;
  ProcessorFacts no_palette = sapphire_rapids();
  no_palette.amx_palettes = 0;
  ProcessorFacts not_saved = no_leaf;  // Linux before 5.16
  not_saved.saves_amx = false;
  ProcessorFacts tiles_and_vnni = no_leaf;
  tiles_and_vnni.avx512_bf16 = tiles_and_vnni.avx512_fp16 = false;
  ProcessorFacts tiles_alone = no_leaf;
  tiles_alone.avx512 = tiles_alone.saves_avx512 = false;
  ProcessorFacts future = sapphire_rapids();
  future.vendor = "SomebodyElse";
  future.highest_leaf = 0x40;
  future.amx_palettes = 3;
  ProcessorFacts old_system = skylake_x();  // that saves no registers of AVX
  old_system.saves_avx = old_system.saves_avx512 = false;
  ProcessorFacts masked = skylake_x();
  masked.saves_avx512 = false;

  const char* const both = "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 OPENBLAS_CORETYPE=SkylakeX";
  return {
      // processor                      OpenBLAS           what is set      bf16: ResNet, ViT
      {"Core 2", core2(), "Core2", "", false, false},
      {"Core 2, unknown", core2(), "Prescott", "", false, false},
      {"Haswell", haswell(), "Haswell", "", false, false},
      {"Haswell, unknown", haswell(), "Prescott", "OPENBLAS_CORETYPE=Haswell", false, false},
      {"Alder Lake, unknown", haswell(), "Nehalem", "OPENBLAS_CORETYPE=Haswell", false, false},
      {"Zen 3", amd(haswell()), "Zen", "", false, false},
      {"Zen 3, old OpenBLAS", amd(haswell()), "Barcelona", "OPENBLAS_CORETYPE=Haswell", false,
       false},
      {"Zen 4", amd(cooper_lake()), "Zen", "", false, true},
      {"Zen 4, unknown", amd(cooper_lake()), "Prescott", "OPENBLAS_CORETYPE=SkylakeX", false, true},
      {"Skylake-X", skylake_x(), "SkylakeX", "", false, false},
      {"Skylake-X, unknown", skylake_x(), "Sandybridge", "OPENBLAS_CORETYPE=SkylakeX", false,
       false},
      {"Skylake-X, AVX-512 off", masked, "Prescott", "OPENBLAS_CORETYPE=Haswell", false, false},
      {"Skylake-X, old system", old_system, "Nehalem", "", false, false},
      {"Ice Lake", ice_lake(), "SkylakeX", "", false, false},
      {"Cooper Lake", cooper_lake(), "Cooperlake", "", false, true},
      {"Sapphire Rapids", sapphire_rapids(), "SapphireRapids", "", true, true},
      {"Sapphire Rapids, unknown", sapphire_rapids(), "Prescott", "OPENBLAS_CORETYPE=SkylakeX",
       true, true},
      {"  without leaf 0x1D", no_leaf, "Prescott", both, false, true},
      {"  known to OpenBLAS", no_leaf, "SapphireRapids", "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16",
       false, true},
      {"  without palettes", no_palette, "Prescott", both, false, true},
      {"  tiles not saved", not_saved, "SkylakeX", "", false, true},
      {"  another BLAS", no_leaf, "", "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16", false, true},
      {"tiles and no bf16", tiles_and_vnni, "SkylakeX", "ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI",
       false, false},
      {"tiles and no AVX-512", tiles_alone, "Haswell", "ONEDNN_MAX_CPU_ISA=AVX2", false, false},
      {"a future one", future, "Prescott", "OPENBLAS_CORETYPE=SkylakeX", true, true},
      {"a future one, new OpenBLAS", future, "Zen9", "", true, true},
      {"ARM", ProcessorFacts(), "neoversen1", "", false, false},
  };
}

TEST(Processor, LimitsAndPrecisionOfMadeUpOnes) {
  for (const Row& row : rows()) {
    const std::vector<Limit> limits = limits_of(row.processor, row.kernels);
    EXPECT_EQ(text_of(limits), row.limits) << row.name;
    // The same without the limits and with them: tiles that are not described are never used.
    std::vector<std::string> values = {""};
    for (const Limit& limit : limits)
      if (limit.variable == "ONEDNN_MAX_CPU_ISA") values.push_back(limit.value);
    for (const std::string& onednn : values) {
      EXPECT_EQ(bf16_is_faster(row.processor, onednn, true), row.bf16_winograd) << row.name;
      EXPECT_EQ(bf16_is_faster(row.processor, onednn, false), row.bf16_transformer) << row.name;
    }
  }
}

TEST(Processor, WhatTheUserSetWins) {
  ProcessorFacts broken = sapphire_rapids();
  broken.highest_leaf = 0x1C;
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    const std::vector<Limit> limits = limits_of(broken, "SkylakeX", {{name, "AVX512_CORE"}});
    ASSERT_EQ(limits.size(), 1u);
    EXPECT_TRUE(limits[0].by_user);
    EXPECT_EQ(limits[0].variable, name);
    EXPECT_EQ(limits[0].value, "AVX512_CORE");
  }
  const std::vector<Limit> limits =
      limits_of(broken, "Prescott", {{"OPENBLAS_CORETYPE", "Prescott"}});
  EXPECT_EQ(text_of(limits), "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16");
  EXPECT_EQ(limits.size(), 2u);
}

TEST(Processor, ALimitOfOneDnnTakesItsBf16) {
  const ProcessorFacts p = sapphire_rapids();
  for (const char* all : {"", "ALL", "DEFAULT", "AVX512_CORE_AMX", "avx10_1_512_amx", "typo"})
    EXPECT_TRUE(bf16_is_faster(p, all, true)) << all;
  for (const char* bf16 : {"AVX512_CORE_BF16", "avx512_core_fp16", "AVX10_1_512"}) {
    EXPECT_FALSE(bf16_is_faster(p, bf16, true)) << bf16;
    EXPECT_TRUE(bf16_is_faster(p, bf16, false)) << bf16;
  }
  for (const char* none : {"SSE41", "avx2", "AVX2_VNNI", "AVX512_CORE", "AVX512_CORE_VNNI"})
    EXPECT_FALSE(bf16_is_faster(p, none, false)) << none;
}

TEST(Processor, NamesWhatCanBeUsed) {
  EXPECT_EQ(features(ProcessorFacts()), "");
  EXPECT_EQ(features(haswell()), "AVX2, FMA");
  ProcessorFacts broken = sapphire_rapids();
  EXPECT_NE(features(broken).find(", AMX"), std::string::npos);
  broken.amx_palettes = 0;
  EXPECT_NE(features(broken).find("AMX without"), std::string::npos);
}

TEST(Processor, ThisOneIsReadAsTheCompilerReadsIt) {
  const ProcessorFacts p = read_processor();
#ifdef __x86_64__
  EXPECT_EQ(p.avx2 && p.saves_avx, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(p.fma && p.saves_avx, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(p.avx512 && p.saves_avx512,
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"));
  EXPECT_EQ(p.avx512_vnni && p.saves_avx512, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(p.avx512_bf16 && p.saves_avx512, __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(p.vendor.size(), 12u);
#else
  EXPECT_TRUE(p.vendor.empty());
#endif
}

TEST(Processor, LimitsAreAppliedOnce) {
  const Restored applied("CPLEARN_LIMITS"), blas("OPENBLAS_CORETYPE"), onednn("ONEDNN_MAX_CPU_ISA"),
      old("DNNL_MAX_CPU_ISA");
  ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  const std::vector<Limit> first = apply_limits();
  ASSERT_GE(first.size(), 1u);  // this machine may need limits of its own
  for (const Limit& limit : first) EXPECT_EQ(std::getenv(limit.variable.c_str()), limit.value);
  const std::vector<Limit> again = apply_limits();
  ASSERT_EQ(again.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(again[i].variable, first[i].variable);
    EXPECT_EQ(again[i].reason, first[i].reason);
    EXPECT_EQ(again[i].by_user, first[i].by_user);
  }
  EXPECT_TRUE(first[0].by_user);

  // What the process before said about itself does not hide what the user says now.
  ::setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
  EXPECT_TRUE(apply_limits().back().by_user);
  EXPECT_EQ(apply_limits().back().value, "Nehalem");
}

}  // namespace
}  // namespace cpl
