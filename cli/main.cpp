// cplearn: parses the command line, runs one command, turns errors into messages and exit codes.

#include <malloc.h>

#include <csignal>
#include <iostream>
#include <limits>

#include "cli/main.h"

#include "cli/engine.h"
#include "cli/help.h"
#include "cplearn/base/error.h"
#include "cplearn/base/text.h"
#include "cplearn/base/version.h"

namespace cpl::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"train", "Learn an encoder from images without labels",
       "cplearn train --data DIR --epochs 20 --out runs/mine", declare_train},
      {"eval", "Score a run: linear probe, nearest neighbours, clusters, beside baselines",
       "cplearn eval runs/demo --data shapes --test shapes@test --baselines", declare_eval},
      {"diagnose", "Is it collapsed? Four verdicts with numbers and advice, and the certificate",
       "cplearn diagnose runs/demo --data shapes@test", declare_diagnose},
      {"embed", "Write representations, embeddings, probabilities or codes as NumPy files",
       "cplearn embed runs/demo --data photos --out features.npy", declare_embed},
      {"cluster", "Sort images into clusters: a table, a page of pictures, folders of links",
       "cplearn cluster runs/demo --data photos --out groups --k 20", declare_cluster},
      {"report", "Make one page about runs: curves, verdicts, maps; several runs side by side",
       "cplearn report runs/demo --out demo.html", declare_report},
      {"compare", "Show what differs between runs: settings and results",
       "cplearn compare runs/cplearn-1 runs/cplearn-2", declare_compare},
      {"ui", "Show runs in a browser while they train", "cplearn ui runs", declare_ui},
      {"data", "Look at a data set, check it, download it", "cplearn data info photos/",
       declare_data},
      {"reproduce", "Run an experiment of the paper at a budget of your choice",
       "cplearn reproduce table1 --budget cpu --data-dir ~/data", declare_reproduce},
      {"gauntlet", "Train under hostile settings, and count how often a method collapses",
       "cplearn gauntlet --method cplearn,barlow --budget cpu --data-dir ~/data", declare_gauntlet},
      {"theory", "Check the paper's lemma, theorem and corollaries numerically",
       "cplearn theory --width 64 --batch 256", declare_theory},
      {"dictionary", "Make a dictionary, measure its coherence, draw W'W",
       "cplearn dictionary --width 128 --codes 16384 --figure dictionary.svg", declare_dictionary},
      {"bench", "Measure speed and memory beside the straightforward graph",
       "cplearn bench head --width 512 --codes 131072 --batch 64", declare_bench},
      {"info", "Show the version, the machine, and what this build can do", "cplearn info --json",
       declare_info},
      {"completion", "Print a script that completes commands and options in your shell",
       "source <(cplearn completion bash)", declare_completion},
      {"manual", "Print the manual page, for man", "cplearn manual > cplearn.1 && man -l cplearn.1",
       declare_manual},
  };
  return table;
}

namespace {

char** process_arguments = nullptr;

// Every option's name below `app`, for the nearest one to a mistyped one.
void collect_names(const CLI::App* app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* sub : app->get_subcommands({})) {
    names.push_back(sub->get_name());
    if (*sub) collect_names(sub, names);
  }
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::cerr << "cplearn: " << printable(error.what()) << "\n";
  std::vector<std::string> names;
  collect_names(&app, names);
  for (const std::string& word : app.remaining(true)) {
    const std::string near = nearest_name(word.substr(0, word.find('=')), names);
    if (!near.empty())
      std::cerr << "  did you mean '" << near << "' instead of '" << word << "'?\n";
  }
  const CLI::App* deepest = &app;
  std::string path = "cplearn";
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    path += " " + deepest->get_name();
  }
  std::cerr << "Run '" << path << " --help' for what it takes.\n";
  return kUsage;
}

void add_common(CLI::App& app, Common& common) {
  app.add_flag("--json", common.json, "print one JSON object on standard output")->group("Common");
  app.add_flag("--quiet", common.quiet, "print nothing but errors, and the object of --json")
      ->group("Common");
  // Commands that save these two with their settings declare them themselves.
  if (!app.get_option_no_throw("--threads"))
    app.add_option("--threads", common.threads,
                   "processor threads; 0: OMP_NUM_THREADS, or all cores")
        ->capture_default_str()
        ->check(CLI::Range(0, 4096))
        ->group("Common");
  if (!app.get_option_no_throw("--seed"))
    app.add_option("--seed", common.seed,
                   "where random numbers start; the same seed, the same result")
        ->capture_default_str()
        ->group("Common");
}

int run(int argc, char** argv) {
  process_arguments = argv;
  CLI::App app("cplearn: collapse-proof self-supervised learning");
  app.set_version_flag("--version", str("cplearn ", version()), "show the version");
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>(std::vector<std::string>(argv + 1, argv + argc)));
  app.set_help_flag("-h,--help", "show the most used options; --help METHOD adds that method's");
  app.set_help_all_flag("--help-all", "show all options, by topic");
  app.footer("Run 'cplearn COMMAND --help' for the options of a command, with an example.");

  Common common;
  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(str("Example:\n  ", command.example));
    runs.emplace_back(sub, command.declare(*sub));
    add_common(*sub, common);
    for (CLI::App* nested : sub->get_subcommands({})) add_common(*nested, common);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  try {
    prepare(common);
    for (const auto& [sub, command] : runs) {
      if (*sub) return command(common);
    }
  } catch (const UsageError& error) {
    std::cerr << "cplearn: " << printable(error.what()) << "\n";
  }
  return kUsage;
}

}  // namespace

char** arguments_of_process() { return process_arguments; }

}  // namespace cpl::cli

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Tensors of many megabytes come and go in every step: kept by the process, their pages are
  // mapped once and not in every step.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error with a message
  try {
    const int code = cpl::cli::run(argc, argv);
    std::cout.flush();
    if (std::cout) return code;
    std::cerr << "cplearn: standard output could not be written: is the disk full?\n";
  } catch (const cpl::Error& error) {
    std::cerr << "cplearn: " << cpl::printable(error.what()) << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << "cplearn: out of memory; use fewer codes, a smaller batch or a smaller width\n";
  } catch (const std::exception& error) {
    // libtorch appends a backtrace after the first line.
    const std::string what = error.what();
    std::cerr << "cplearn: " << cpl::printable(what.substr(0, what.find('\n'))) << "\n";
  }
  return cpl::cli::kFailure;
}
