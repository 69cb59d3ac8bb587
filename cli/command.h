#pragma once
// What every command shares: its row in the table, the common options, output for people and for
// machines.

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cplearn/base/error.h"
#include "cplearn/base/options.h"
#include "cplearn/base/progress.h"

namespace cpl::cli {

using Json = nlohmann::ordered_json;

enum ExitCode { kSuccess = 0, kFailure = 1, kUsage = 2, kCollapsed = 3 };

// Options that every command has.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;  // 0: all cores
  std::uint64_t seed = 0;

  // Text for people: on standard output, or on standard error beside --json; nothing if --quiet.
  std::ostream& say() const {
    static std::ostream nowhere(nullptr);
    return quiet ? nowhere : json ? std::cerr : std::cout;
  }
  Progress::Mode progress() const { return quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto; }
  // The result for machines: one object on standard output with --json.
  void result(const Json& object) const {
    if (json) std::cout << object.dump(2) << std::endl;
  }
};

// Exit code 2: the command was called in a way that cannot be meant.
struct UsageError : Error {
  using Error::Error;
};
inline void check_usage(bool right, const std::string& words) {
  if (!right) throw UsageError(words);
}

// A command declares its options on `app` and returns what to run after parsing.
using Run = std::function<int(const Common&)>;
struct Command {
  const char* name;
  const char* summary;  // one line for the list of commands
  const char* example;  // shown at the end of --help
  Run (*declare)(CLI::App& app);
};

const std::vector<Command>& commands();

Run declare_bench(CLI::App& app);
Run declare_cluster(CLI::App& app);
Run declare_compare(CLI::App& app);
Run declare_completion(CLI::App& app);
Run declare_data(CLI::App& app);
Run declare_diagnose(CLI::App& app);
Run declare_dictionary(CLI::App& app);
Run declare_embed(CLI::App& app);
Run declare_eval(CLI::App& app);
Run declare_gauntlet(CLI::App& app);
Run declare_info(CLI::App& app);
Run declare_manual(CLI::App& app);
Run declare_reproduce(CLI::App& app);
Run declare_report(CLI::App& app);
Run declare_theory(CLI::App& app);
Run declare_train(CLI::App& app);
Run declare_ui(CLI::App& app);

// Adds a struct's options (see base/options.h) to a command.
class AddOptions {
 public:
  explicit AddOptions(CLI::App& app) : app_(app) {}

  void begin_topic(const std::string& name) { topic_ = name; }

  template <class T>
  void operator()(const std::string& name, T& member, const std::string& help) {
    if constexpr (std::is_same_v<T, bool>) {
      app_.add_flag("--" + name + ",!--no-" + name, member, help)
          ->default_str(option_text(member))
          ->group(topic_);
    } else {
      plain(name, member, help);
    }
  }

  template <class T>
  void operator()(const std::string& name, T& member, const std::string& help, AtLeast range) {
    plain(name, member, help)->check([range](const std::string& text) {
      return number(text) >= range.minimum
                 ? ""
                 : str("must be at least ", range.minimum, ", got ", text);
    });
  }

  template <class T>
  void operator()(const std::string& name, T& member, const std::string& help, Between range) {
    plain(name, member, help)->check([range](const std::string& text) {
      const double x = number(text);
      return x >= range.minimum && x <= range.maximum
                 ? ""
                 : str("must be between ", range.minimum, " and ", range.maximum, ", got ", text);
    });
  }

  template <class Enum>
  void operator()(const std::string& name, Enum& member, const std::string& help,
                  const Names<Enum>& names) {
    std::vector<std::string> known;
    for (const auto& row : names) known.push_back(row.first);
    app_.add_option_function<std::string>(
            "--" + name,
            [&member, names](const std::string& text) {
              for (const auto& [candidate, value] : names)
                if (candidate == text) member = value;
            },
            help)
        ->type_name("{" + CLI::detail::join(known, "|") + "}")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->default_str(name_of(names, member))
        ->group(topic_)
        ->check([known](const std::string& text) {
          return std::count(known.begin(), known.end(), text)
                     ? ""
                     : str("must be one of ", CLI::detail::join(known, ", "), ", got ", text);
        });
  }

 private:
  // Given twice, the last one counts: scripts put their defaults first.
  template <class T>
  CLI::Option* plain(const std::string& name, T& member, const std::string& help) {
    return app_.add_option("--" + name, member, help)
        ->capture_default_str()
        ->group(topic_)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  static double number(const std::string& text) {
    try {
      return std::stod(text);
    } catch (const std::exception&) {
      throw CLI::ValidationError(str("must be a number, got ", text));
    }
  }

  CLI::App& app_;
  std::string topic_ = "Options";
};

}  // namespace cpl::cli
