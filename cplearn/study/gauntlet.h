#pragma once
// What came of trainings under hostile settings (configs/gauntlet.ini), counted.

#include <array>
#include <string>
#include <vector>

#include "cplearn/report/verdict_page.h"
#include "cplearn/study/results.h"

namespace cpl {

// From best to worst. "Recovered": it collapsed, went back and ended healthy.
enum class Fate { kHealthy, kDoubtful, kRecovered, kCollapsed, kFailed, kMissing };
constexpr int kFates = 6;
const char* fate_name(Fate fate);  // "healthy", ..., "not run"

struct GauntletRun {
  std::string method, setting;
  std::uint64_t seed = 0;
  Fate fate = Fate::kMissing;
  std::string words;  // the verdict, or why it failed
};

struct FateCounts {
  std::string method;
  std::array<int, kFates> count{};
  int of(Fate fate) const { return count[static_cast<std::size_t>(fate)]; }
  int runs() const;  // those that came to an end
};

// `failed`: cells and the reasons why they have no numbers.
std::vector<GauntletRun> gauntlet_runs(
    const std::vector<CellResult>& results,
    const std::vector<std::pair<std::string, std::string>>& failed);

// By method, in the order of the runs.
std::vector<FateCounts> count_fates(const std::vector<GauntletRun>& runs);

// Settings down, methods across, a square for each seed.
VerdictPage gauntlet_page(const std::string& note, const std::vector<GauntletRun>& runs);

}  // namespace cpl
