#pragma once
// What the processor can do, and what libtorch's libraries must be told about it before they are
// used. They guess wrong on some machines:
//
// - oneDNN asks CPUID leaf 0x1D how tiles are laid out. Virtual machines exist that advertise AMX
//   without that leaf; its first tile instruction is then illegal.
// - OpenBLAS knows processors by model number and takes kernels of 2004 (Prescott: SSE3) for one
//   that is newer than itself: a third of the speed.
//
// Both listen to environment variables. Rules here are by features, never by model number, so that
// they also hold for processors to come.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cpl {

// As CPUID and XCR0 say; all false where the processor is no x86.
struct ProcessorFacts {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD"; empty where it is no x86
  std::uint32_t highest_leaf = 0;
  bool avx2 = false, fma = false;
  bool avx512 = false;  // f, cd, bw, dq and vl: what Skylake-X has
  bool avx512_vnni = false, avx512_bf16 = false, avx512_fp16 = false;
  bool amx_tile = false, amx_bf16 = false;
  std::uint32_t amx_palettes = 0;  // layouts of tiles that leaf 0x1D names
  // Registers that the system saves; instructions that use others are illegal.
  bool saves_avx = false, saves_avx512 = false, saves_amx = false;
};
ProcessorFacts read_processor();

// "AVX2, FMA, AVX-512": those of them that a program can use here.
std::string features(const ProcessorFacts& processor);

// An environment variable that keeps a library from, or brings it to, an instruction set.
struct Limit {
  std::string variable, value, reason;
  bool by_user = false;  // set by whoever started the program: left alone
};

// The value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const std::string& variable)>;

// What has to be set. `blas_kernels`: see below.
std::vector<Limit> decide_limits(const ProcessorFacts& processor, const std::string& blas_kernels,
                                 const Environment& environment);

// The name OpenBLAS gives to the kernels it takes on this machine ("Haswell", "SkylakeX"), with
// OPENBLAS_CORETYPE as it is now unless the library is loaded already. Empty if the system's BLAS
// is another. Takes some 5 ms.
std::string blas_kernels();

// Reads, decides, and sets the variables; says what is set. Doing it again, here or in a program
// that this one starts, changes nothing and returns the same.
//
// OpenBLAS reads its variable while it is loaded: a program that links libtorch is too late and
// should be started by one that called this. oneDNN reads its own at the first use of it, so
// calling this first in main() keeps any program from illegal instructions.
std::vector<Limit> apply_limits();

// Whether training is faster in bf16 than in fp32, for backbones with or without 3x3 convolutions
// by Winograd's algorithm (the ResNets), which exist in fp32 only:
//
//   usable AMX            yes: sixteen times the operations per cycle of AVX-512 in fp32, and
//                         Winograd's algorithm saves a factor of four. By the manual, not measured.
//   AVX512_BF16, no AMX   only without Winograd. On a Xeon (2 threads) fp32 and bf16 made 170 and
//                         85 images/s with ResNet-8, 34 and 19 with ResNet-18. Transformers have
//                         twice the operations per cycle to gain; by the manual, not measured.
//   otherwise             no: bf16 is emulated.
//
// Tiles are usable if the system saves them, leaf 0x1D describes them, and oneDNN's limit (a value
// of ONEDNN_MAX_CPU_ISA, or empty) does not exclude them. All of this is of a libtorch with oneDNN.
bool bf16_is_faster(const ProcessorFacts& processor, const std::string& onednn_limit,
                    bool winograd);
bool bf16_is_faster(bool winograd);  // on this machine, as limited now

}  // namespace cpl
