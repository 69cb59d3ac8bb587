#include "cplearn/study/gauntlet.h"

#include <algorithm>
#include <numeric>

namespace cpl {
namespace {

using Json = nlohmann::ordered_json;

std::string axis(const Cell& cell, const std::string& name) {
  for (const auto& [key, value] : cell.axes)
    if (key == name) return value;
  return "";
}

Fate fate_of(const Json& numbers) {
  const std::string verdict = numbers.value("verdict", "");
  if (verdict.rfind("collapsed", 0) == 0) return Fate::kCollapsed;
  if (numbers.value("recoveries", 0) > 0) return Fate::kRecovered;
  return verdict == "healthy" ? Fate::kHealthy : Fate::kDoubtful;
}

}  // namespace

const char* fate_name(Fate fate) {
  static constexpr const char* kNames[kFates] = {"healthy",   "doubtful", "recovered",
                                                 "collapsed", "failed",   "not run"};
  return kNames[static_cast<int>(fate)];
}

int FateCounts::runs() const {
  return std::accumulate(count.begin(), count.end(), 0) - of(Fate::kMissing);
}

std::vector<GauntletRun> gauntlet_runs(
    const std::vector<CellResult>& results,
    const std::vector<std::pair<std::string, std::string>>& failed) {
  std::vector<GauntletRun> runs;
  for (const CellResult& result : results) {
    GauntletRun run;
    run.method = axis(result.cell, "method");
    run.setting = axis(result.cell, "setting");
    run.seed = result.cell.seed;
    const auto why = std::find_if(failed.begin(), failed.end(), [&](const auto& entry) {
      return entry.first == result.cell.name;
    });
    if (!result.numbers.is_null()) {
      run.fate = fate_of(result.numbers);
      run.words = result.numbers.value("verdict", "");
    } else if (why != failed.end()) {
      run.fate = Fate::kFailed;
      run.words = why->second;
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<FateCounts> count_fates(const std::vector<GauntletRun>& runs) {
  std::vector<FateCounts> counts;
  for (const GauntletRun& run : runs) {
    auto row = std::find_if(counts.begin(), counts.end(),
                            [&](const FateCounts& c) { return c.method == run.method; });
    if (row == counts.end()) row = counts.insert(counts.end(), FateCounts{run.method});
    ++row->count[static_cast<std::size_t>(run.fate)];
  }
  return counts;
}

VerdictPage gauntlet_page(const std::string& note, const std::vector<GauntletRun>& runs) {
  VerdictPage page;
  page.title = "Gauntlet: trainings under hostile settings";
  page.words = note;
  for (int fate = 0; fate < kFates; ++fate) page.kinds.push_back(fate_name(Fate(fate)));
  for (const FateCounts& counts : count_fates(runs)) {
    page.columns.push_back(counts.method);
    page.counts.emplace_back(counts.count.begin(), counts.count.end());
  }
  for (const GauntletRun& run : runs) {
    auto row = std::find_if(page.rows.begin(), page.rows.end(),
                            [&](const VerdictPage::Row& r) { return r.name == run.setting; });
    if (row == page.rows.end()) {
      row = page.rows.insert(page.rows.end(), VerdictPage::Row{run.setting, {}});
      row->marks.resize(page.columns.size());
    }
    const auto column = std::find(page.columns.begin(), page.columns.end(), run.method);
    row->marks[static_cast<std::size_t>(column - page.columns.begin())].push_back(
        {static_cast<int>(run.fate), str("seed ", run.seed, ": ", fate_name(run.fate),
                                         run.words.empty() ? "" : ", " + run.words)});
  }
  return page;
}

}  // namespace cpl
