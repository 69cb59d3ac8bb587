#pragma once
// What this process knows of its machine: memory, clock, processor.

#include <cstdint>
#include <string>

namespace cpl {

// Resident memory now, and its peak since reset_peak_memory(), in bytes; 0 where unknown.
std::int64_t resident_memory();
std::int64_t peak_memory();
// Gives freed memory back and starts a new peak. False where the system does not allow it (then the
// peak is that of the whole process).
bool reset_peak_memory();

std::int64_t available_memory();

// Cores that this process may use, at least 1.
int core_count();
// Threads to compute with: `wanted`, or if that is 0 what OMP_NUM_THREADS says, or all cores.
int thread_count(int wanted);

// Clock of a core that is busy, in Hz: a chain of dependent additions takes one cycle each.
double measure_clock();

// "AMD EPYC ...", from the system.
std::string processor_name();

}  // namespace cpl
