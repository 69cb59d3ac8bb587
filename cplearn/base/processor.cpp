#include "cplearn/base/processor.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

#include "cplearn/base/error.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace cpl {
namespace {

constexpr std::uint32_t kTileLeaf = 0x1D;
constexpr const char* kOneDnn = "ONEDNN_MAX_CPU_ISA";
constexpr const char* kOneDnnOld = "DNNL_MAX_CPU_ISA";  // read where the other is not set
constexpr const char* kOpenBlas = "OPENBLAS_CORETYPE";
constexpr const char* kApplied = "CPLEARN_LIMITS";  // what apply_limits() did, for child processes

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

bool usable_avx2(const ProcessorFacts& p) { return p.avx2 && p.fma && p.saves_avx; }
bool usable_avx512(const ProcessorFacts& p) { return usable_avx2(p) && p.avx512 && p.saves_avx512; }
bool usable_bf16(const ProcessorFacts& p) {
  return usable_avx512(p) && p.avx512_vnni && p.avx512_bf16;
}
bool tiles_described(const ProcessorFacts& p) {
  return p.highest_leaf >= kTileLeaf && p.amx_palettes > 0;
}

// The best below AMX, by a name that oneDNN 2.6 and 3.x both know; one they do not know is ignored.
std::string best_without_tiles(const ProcessorFacts& p) {
  return usable_bf16(p)                      ? "AVX512_CORE_BF16"
         : usable_avx512(p) && p.avx512_vnni ? "AVX512_CORE_VNNI"
         : usable_avx512(p)                  ? "AVX512_CORE"
         : usable_avx2(p)                    ? "AVX2"
                                             : "SSE41";
}

// OpenBLAS's names of kernels without AVX2. A name that is not here is a newer one.
bool lacks_avx2(const std::string& kernels) {
  static const std::vector<std::string> old = {
      "Katmai", "Coppermine",  "Northwood", "Prescott",  "Banias",     "Atom",         "Core2",
      "Penryn", "Dunnington",  "Nehalem",   "Athlon",    "Opteron",    "Opteron_SSE3", "Barcelona",
      "Nano",   "Sandybridge", "Bobcat",    "Bulldozer", "Piledriver", "Steamroller",  "Unknown"};
  return std::find(old.begin(), old.end(), kernels) != old.end();
}

// What a value of ONEDNN_MAX_CPU_ISA leaves. oneDNN ignores values it does not know.
struct Allowed {
  bool bf16 = true, tiles = true;

  explicit Allowed(std::string limit) {
    for (char& c : limit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto begins = [&limit](const char* text) { return limit.rfind(text, 0) == 0; };
    if (limit.find("AMX") != std::string::npos || !(begins("SSE") || begins("AVX"))) return;
    tiles = false;
    bf16 = begins("AVX512_CORE_BF16") || begins("AVX512_CORE_FP16") || begins("AVX10");
  }
};

// ONEDNN_ comes first in oneDNN 2.6 and 3.x.
std::string onednn_limit() {
  const std::string limit = variable(kOneDnn);
  return limit.empty() ? variable(kOneDnnOld) : limit;
}

// Limits as lines "variable value user|program reason", for the environment.
std::string to_text(const std::vector<Limit>& limits) {
  std::string text;
  for (const Limit& l : limits)
    text += str(l.variable, " ", l.value, l.by_user ? " user " : " program ", l.reason, "\n");
  return text;
}

// False if a variable was changed since: then all is decided anew.
bool from_text(const std::string& text, std::vector<Limit>& limits) {
  std::map<std::string, std::string> expected = {{kOneDnn, ""}, {kOneDnnOld, ""}, {kOpenBlas, ""}};
  std::istringstream in(text);
  Limit limit;
  std::string who;
  while (in >> limit.variable >> limit.value >> who && std::getline(in >> std::ws, limit.reason)) {
    limit.by_user = who == "user";
    expected[limit.variable] = limit.value;
    limits.push_back(limit);
  }
  return std::all_of(expected.begin(), expected.end(),
                     [](const auto& row) { return variable(row.first) == row.second; });
}

}  // namespace

ProcessorFacts read_processor() {
  ProcessorFacts facts;
#ifdef __x86_64__
  struct Registers {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
  };
  const auto cpuid = [&facts](std::uint32_t leaf, std::uint32_t part) {
    Registers r;
    // Beyond the highest leaf, processors answer with another one.
    if (leaf <= facts.highest_leaf) __cpuid_count(leaf, part, r.a, r.b, r.c, r.d);
    return r;
  };
  const auto bit = [](std::uint64_t word, int i) { return ((word >> i) & 1) != 0; };
  const Registers first = cpuid(0, 0);
  facts.highest_leaf = first.a;
  for (const std::uint32_t part : {first.b, first.d, first.c}) {
    char letters[4];
    std::memcpy(letters, &part, sizeof letters);
    facts.vendor.append(letters, sizeof letters);
  }
  const Registers basic = cpuid(1, 0), more = cpuid(7, 0), newer = cpuid(7, more.a > 0 ? 1 : 0);
  facts.fma = bit(basic.c, 12);
  facts.avx2 = bit(more.b, 5);
  facts.avx512 = true;
  for (const int feature : {16, 17, 28, 30, 31})  // f, dq, cd, bw, vl
    facts.avx512 = facts.avx512 && bit(more.b, feature);
  facts.avx512_vnni = bit(more.c, 11);
  facts.avx512_bf16 = more.a > 0 && bit(newer.a, 5);
  facts.avx512_fp16 = bit(more.d, 23);
  facts.amx_bf16 = bit(more.d, 22);
  facts.amx_tile = bit(more.d, 24);
  if (facts.amx_tile) facts.amx_palettes = cpuid(kTileLeaf, 0).a;

  if (bit(basic.c, 27)) {  // XCR0 may be read
    std::uint32_t low = 0, high = 0;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    const auto saves = [low = low](std::uint32_t parts) { return (low & parts) == parts; };
    facts.saves_avx = saves(0x6);
    facts.saves_avx512 = saves(0xE6);
    facts.saves_amx = saves(0x60000);
  }
#endif
  return facts;
}

std::string features(const ProcessorFacts& p) {
  const std::pair<const char*, bool> all[] = {
      {"AVX2", p.avx2 && p.saves_avx},
      {"FMA", p.fma && p.saves_avx},
      {"AVX-512", usable_avx512(p)},
      {"AVX512_VNNI", usable_avx512(p) && p.avx512_vnni},
      {"AVX512_BF16", usable_bf16(p)},
      {"AVX512_FP16", usable_avx512(p) && p.avx512_fp16},
      {"AMX", p.amx_tile && p.saves_amx && tiles_described(p)},
      {"AMX without a description of its tiles", p.amx_tile && p.saves_amx && !tiles_described(p)}};
  std::string text;
  for (const auto& [name, has] : all)
    if (has) text += str(text.empty() ? "" : ", ", name);
  return text;
}

std::vector<Limit> decide_limits(const ProcessorFacts& processor, const std::string& blas_kernels,
                                 const Environment& environment) {
  std::vector<Limit> limits;
  const auto by_user = [&](const char* name) {
    const std::string value = environment(name);
    if (!value.empty()) limits.push_back({name, value, "set by the user", true});
    return !value.empty();
  };
  if (!by_user(kOneDnn) && !by_user(kOneDnnOld) && processor.amx_tile && processor.saves_amx &&
      !tiles_described(processor)) {
    limits.push_back({kOneDnn, best_without_tiles(processor),
                      "the processor advertises AMX and does not describe its tiles (CPUID leaf "
                      "0x1D), without which oneDNN dies"});
  }
  if (!by_user(kOpenBlas) && usable_avx2(processor) && lacks_avx2(blas_kernels)) {
    limits.push_back({kOpenBlas, usable_avx512(processor) ? "SkylakeX" : "Haswell",
                      str("OpenBLAS does not know this processor and took its ", blas_kernels,
                          " kernels, which have no AVX2")});
  }
  return limits;
}

std::string blas_kernels() {
  for (const char* file : {"libblas.so.3", "libopenblas.so.0"}) {
    void* library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library) continue;
    using CoreName = char* (*)();
    const auto core_name = reinterpret_cast<CoreName>(::dlsym(library, "openblas_get_corename"));
    std::string name = core_name ? core_name() : "";
    ::dlclose(library);  // so that the next one to load it reads the variable again
    return name;
  }
  return "";
}

std::vector<Limit> apply_limits() {
  std::vector<Limit> limits;
  const char* applied = std::getenv(kApplied);
  if (applied && from_text(applied, limits)) return limits;
  limits = decide_limits(read_processor(), blas_kernels(), variable);
  for (const Limit& limit : limits)
    if (!limit.by_user) ::setenv(limit.variable.c_str(), limit.value.c_str(), 1);
  ::setenv(kApplied, to_text(limits).c_str(), 1);
  return limits;
}

bool bf16_is_faster(const ProcessorFacts& processor, const std::string& limit, bool winograd) {
  const Allowed allowed(limit);
  const bool tiles = allowed.tiles && processor.amx_tile && processor.amx_bf16 &&
                     processor.saves_amx && tiles_described(processor);
  return tiles || (!winograd && allowed.bf16 && usable_bf16(processor));
}

bool bf16_is_faster(bool winograd) {
  return bf16_is_faster(read_processor(), onednn_limit(), winograd);
}

}  // namespace cpl
