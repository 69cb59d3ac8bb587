// cplearn report: one page about runs, made from their files.

#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/engine.h"
#include "cli/runs.h"
#include "cplearn/base/file.h"
#include "cplearn/base/table.h"
#include "cplearn/base/text.h"
#include "cplearn/report/figures.h"
#include "cplearn/report/page.h"

namespace cpl::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::vector<std::string> runs;
  std::string out, figures;
  bool diagnose = true;
};

// A diagnosis is wanting if there is a network that none was made of.
bool wants_diagnosis(const std::string& run) {
  std::error_code none, older;
  const auto trained = fs::last_write_time(run + "/checkpoint.safetensors", none);
  const auto diagnosed = fs::last_write_time(run + "/diagnosis.json", older);
  return !none && (older || diagnosed < trained);
}

// What cannot be diagnosed (images that moved, say) still has a page, which says what to run.
void diagnose_if_wanting(const std::string& run, const Common& common) {
  if (!wants_diagnosis(run)) return;
  const Engine& with_torch = engine();
  common.say() << "diagnosing " << run << " (--no-diagnose leaves it out)\n";
  try {
    with_torch.write_diagnosis(run, common);
  } catch (const std::exception& error) {  // libtorch has its own
    std::cerr << "! no diagnosis of " << run << ": " << printable(error.what()) << "\n";
  }
}

int run_report(const ReportArguments& o, const Common& common) {
  read_runs(o.runs);  // complains before anything takes time
  if (o.diagnose)
    for (const std::string& path : o.runs) diagnose_if_wanting(path, common);
  const std::vector<RunRecord> runs = read_runs(o.runs);
  show_problems(runs);
  const std::string file = !o.out.empty()     ? o.out
                           : runs.size() == 1 ? runs.front().path + "/report.html"
                                              : "report.html";
  const std::string page = report_page(runs);
  write_file(file, page);
  common.say() << "Open " << file << " in a browser (" << readable_bytes(double(page.size()))
               << ", needs nothing else)\n";
  Json result = {{"file", file}};
  if (!o.figures.empty()) {
    const std::vector<std::string> files = write_figures(runs, o.figures);
    common.say() << files.size() << " figures and tables in " << o.figures << "\n";
    result["figures"] = files;
  }
  common.result(result);
  return kSuccess;
}

}  // namespace

Run declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportArguments>();
  app.add_option("run", options->runs, "run directories; several are shown side by side")
      ->required();
  AddOptions add(app);
  add("out", options->out,
      "file of the page; RUN/report.html if not given, or report.html for several runs");
  add("figures", options->figures, "also write each plot as SVG and CSV into this directory");
  add("diagnose", options->diagnose,
      "first diagnose runs that have no diagnosis, or one of an earlier checkpoint");
  return [options](const Common& common) { return run_report(*options, common); };
}

}  // namespace cpl::cli
