#include "cplearn/base/machine.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace cpl {
namespace {

constexpr long kMostThreads = 4096;  // as for --threads

// "VmHWM:   1234 kB" in a file of /proc, as bytes.
std::int64_t field(const char* file, const std::string& name) {
  std::ifstream in(file);
  std::string key, rest;
  std::int64_t kilobytes = 0;
  while (in >> key) {
    if (key == name + ":" && in >> kilobytes) return kilobytes * 1024;
    std::getline(in, rest);
  }
  return 0;
}

}  // namespace

std::int64_t resident_memory() { return field("/proc/self/status", "VmRSS"); }
std::int64_t peak_memory() { return field("/proc/self/status", "VmHWM"); }
std::int64_t available_memory() { return field("/proc/meminfo", "MemAvailable"); }

int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  // A number, or a list of them for nested regions, of which the first counts.
  const char* const variable = std::getenv("OMP_NUM_THREADS");
  const long given = variable ? std::strtol(variable, nullptr, 10) : 0;
  return given > 0 && given <= kMostThreads ? static_cast<int>(given) : core_count();
}

bool reset_peak_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream out("/proc/self/clear_refs");
  out << "5" << std::flush;
  return out.good();
}

double measure_clock() {
  constexpr std::int64_t kSteps = 4'000'000;
  double best = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t x = 1;
    for (std::int64_t i = 0; i < kSteps; i += 8) {
      // One after the other: each needs the result of the one before.
#if defined(__x86_64__)
      asm volatile(
          "add $1,%0\n add $1,%0\n add $1,%0\n add $1,%0\n"
          "add $1,%0\n add $1,%0\n add $1,%0\n add $1,%0\n"
          : "+r"(x));
#elif defined(__aarch64__)
      asm volatile(
          "add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n"
          "add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n add %0,%0,#1\n"
          : "+r"(x));
#endif
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kSteps) / took.count());
  }
  return best;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace cpl
